import {
  DataTypes,
  type IndexesOptions,
  type InitOptions,
  type ModelAttributeColumnOptions,
  type ModelAttributes,
} from 'sequelize'
import { type Model, type ModelStatic, Table } from 'sequelize-typescript'
import { isMysql } from '../is-mysql.js'
import { BootError } from '../../core/boot-error.js'
import { MetadataKey } from '../../di/metadata.js'
import type { Constructor } from '../../di/token.js'
import { Base } from '../base.js'
import { companionsOf, isPackageTable } from '../startup/companions.js'
import { howToCreate } from '../startup/schema-check.js'

/** The options of a table of this package: it takes every character, also in a database of another character set. */
export const tableOptions = (dialect: string): { readonly charset?: string } =>
  isMysql(dialect) ? { charset: 'utf8mb4' } : {}

// Without BINARY, MySQL takes 'Mail' and 'mail' for one, and 'charge-a' and 'charge-\u00e1'. Elsewhere it would mean bytes.
export const text = (length: number, dialect?: string) => ({
  type: DataTypes.STRING(length, isMysql(dialect)),
  allowNull: false,
})
export const optionalText = (length: number, dialect?: string) => ({ ...text(length, dialect), allowNull: true })
export const number = () => ({ type: DataTypes.INTEGER, allowNull: false })
export const big = () => ({ type: DataTypes.BIGINT, allowNull: false })
/** In milliseconds since 1970, by the clock of the database: the same on each of them, in any time zone. */
export const instant = big
export const optionalInstant = () => ({ ...big(), allowNull: true })

export type Columns = Readonly<Record<string, ModelAttributeColumnOptions>>
export type Index = IndexesOptions & { readonly fields: string[] }

/** A table of this package. */
export interface OwnTableFacts {
  readonly model: Constructor
  readonly name: string
  /** New objects for each call: Sequelize adds to those that it is given. */
  readonly columns: (dialect?: string) => Columns
  readonly indexes: (dialect: string) => readonly Index[]
}

export const noIndexes = (): readonly Index[] => []

const factsOf = new MetadataKey<OwnTableFacts>()

/** A table whose columns, and indexes, differ from database to database. */
export class OwnTable<Row extends Model> extends Base<Row> {
  /** @internal Called by sequelize-typescript when the class is mapped to a database. */
  static override initialize<S extends ModelStatic<Model>, M extends InstanceType<S>>(
    attributes: ModelAttributes,
    options: InitOptions,
  ): S {
    const facts = factsOf.own(this)
    if (!facts)
      throw new BootError(`${this.name} extends a table of this package, which has one class. ${howToName(this)}`)
    const dialect = options.sequelize.getDialect()
    const indexes = [...facts.indexes(dialect)]
    return super.initialize<S, M>(withTypes(attributes, facts.columns(dialect)), {
      ...options,
      ...tableOptions(dialect),
      indexes,
    })
  }
}

function howToName(model: Function): string {
  const facts = factsOf.inherited(model)
  return facts ? `Name ${facts.model.name} itself among the models.` : ''
}

/** The attributes with the types that they have in one dialect. */
function withTypes(attributes: ModelAttributes, columns: Columns): ModelAttributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => [name, { ...(attribute as object), ...columns[name] }]),
  ) as ModelAttributes
}

/**
 * Maps classes to their tables. The first is the one that programs name among the models of a database; it brings the others.
 *
 * @param create how a migration creates them.
 */
export function mapOwnTables(tables: readonly OwnTableFacts[], create: string): void {
  for (const facts of tables) {
    factsOf.write(facts.model, facts)
    Table({ tableName: facts.name, timestamps: false })(facts.model)
    howToCreate.write(facts.model, create)
    isPackageTable.write(facts.model, true)
  }
  const [first, ...companions] = tables.map(({ model }) => model)
  if (first) companionsOf.write(first, companions)
}
