import type { InferAttributes, InferCreationAttributes } from 'sequelize'
import { Model } from 'sequelize-typescript'

/**
 * The declarative base class of mapped tables: sequelize-typescript's `Model`, with the attributes inferred from the class itself.
 * Write `declare` before each column: otherwise the property hides the column, which is reported at startup.
 *
 * @example
 * @Table({ tableName: 'hero', timestamps: false })
 * class Hero extends Base<Hero> {
 *   @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
 *   @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
 * }
 */
// any: as in Sequelize's own Model, so that every model is a `typeof Base`.
// oxlint-disable-next-line typescript/no-explicit-any
export abstract class Base<M extends Model = any> extends Model<InferAttributes<M>, InferCreationAttributes<M>> {}
