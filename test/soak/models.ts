import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base } from 'sequitur'

/** A row for each request that inserts: its name is chosen by the client, so that the ledger knows it. */
@Table({ tableName: 'entry', timestamps: false })
export class Entry extends Base<Entry> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(60), allowNull: false, unique: true }) declare name: string
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare bytes: CreationOptional<number>
}

/** Few rows that all clients change: hot ones. */
@Table({ tableName: 'counter', timestamps: false })
export class Counter extends Base<Counter> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare count: number
}

export const COUNTERS = 4
export const models = [Entry, Counter]
