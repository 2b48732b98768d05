import type { InferAttributes, InferCreationAttributes } from 'sequelize'
import { Model } from 'sequelize-typescript'

/**
 * The declarative base class of mapped tables: sequelize-typescript's `Model`, with the attributes inferred from the class itself.
 * Declare the columns with `declare`: a property that exists on the instance hides the column, and stops the boot.
 *
 * @example
 * @Table({ tableName: 'hero', timestamps: false })
 * class Hero extends Base<Hero> {
 *   @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
 *   @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
 * }
 */
// any: the default that Sequelize's own Model has, so that `typeof Base` fits every model.
// oxlint-disable-next-line typescript/no-explicit-any
export abstract class Base<M extends Model = any> extends Model<InferAttributes<M>, InferCreationAttributes<M>> {}
