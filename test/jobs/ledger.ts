import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base } from 'sequitur'

/** What jobs write: a row for each effect, without a unique index, so that a second one would be there. */
@Table({ tableName: 'effect', timestamps: false })
export class Effect extends Base<Effect> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.INTEGER, allowNull: false }) declare number: number
}
