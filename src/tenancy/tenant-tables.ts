import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { indexesOf } from '../db/indexes/table-indexes.js'
import { lengthOf, looseCollationOf, refuseOtherColumnType } from './column-facts.js'
import { dataTypeInternals, modelInternals, queryGeneratorOf } from '../db/sequelize/internals.js'
import type { TenantKind, TenantTable } from './tenant.js'

/** A unique key of a table. */
export interface TenantKey {
  readonly name: string
  /** Without expressions. */
  readonly columns: readonly string[]
}

/** The mapped tables of one database. */
export class TenantTables {
  readonly kind: TenantKind
  readonly all: readonly TenantTable[]
  /** Undefined for a mapped table without the column. */
  readonly #byName = new Map<string, TenantTable | undefined>()
  readonly #keys = new Map<ModelStatic<Model>, readonly TenantKey[]>()
  readonly #collations = new Map<ModelStatic<Model>, string>()
  #longest = Number.POSITIVE_INFINITY
  readonly #sequelize: Sequelize

  /** @throws BootError if no table has the column, or if its types differ. */
  constructor(sequelize: Sequelize, models: readonly ModelStatic<Model>[], column: string) {
    this.#sequelize = sequelize
    this.all = models.flatMap((model) => tenantTable(model, column) ?? [])
    const [first] = this.all
    if (!first)
      throw new BootError(
        `tenancy(): no model has the column ${column}. Add it to the models whose rows belong to a tenant, or correct \`column\`.`,
      )
    this.kind = kindOf(first)
    for (const model of models) this.#byName.set(this.#nameOf(model.getTableName()), undefined)
    for (const table of this.all) {
      if (kindOf(table) !== this.kind)
        throw new BootError(
          `tenancy(): ${first.model.name}.${first.attribute} and ${table.model.name}.${table.attribute} have different types. Give them the same one.`,
        )
      this.#byName.set(this.#nameOf(table.model.getTableName()), table)
    }
  }

  /**
   * The table, as Sequelize names it: a string, or an object with the schema. Undefined for a table without the column. A table that is not mapped,
   * as that of `Hero.schema('archive')`, counts as the mapped one of the same name: a statement fails if it has no such column.
   */
  of(table: unknown): TenantTable | undefined {
    const name = this.#nameOf(table)
    if (this.#byName.has(name)) return this.#byName.get(name)
    const bare = bareName(table)
    return this.all.find(({ model }) => bareName(model.getTableName()) === bare)
  }

  /**
   * Reads which keys the tables have, and on databases without policies how their columns store tenants.
   *
   * @throws BootError for a column that treats different tenants as one.
   */
  async readFacts({ hasPolicies }: { readonly hasPolicies: boolean }): Promise<void> {
    for (const table of this.all) {
      this.#keys.set(table.model, await this.#readKeys(table))
      if (hasPolicies) continue
      refuseOtherColumnType(table, this.kind)
      if (this.kind !== 'text') continue // others have one form each
      this.#longest = Math.min(this.#longest, lengthOf(table))
      const collation = await looseCollationOf(this.#sequelize, table)
      if (collation !== undefined) this.#collations.set(table.model, collation)
    }
  }

  async #readKeys({ model }: TenantTable): Promise<readonly TenantKey[]> {
    const indexes = await indexesOf(this.#sequelize, model)
    return indexes
      .filter(({ unique }) => unique)
      .map(({ name, columns }) => ({ name, columns: columns.flatMap((column) => column.name ?? []) }))
  }

  /** Each unique key, also the primary key. */
  keysOf({ model }: TenantTable): readonly TenantKey[] {
    return this.#keys.get(model) ?? []
  }

  /** The collation of the column, if unique keys may treat tenants that differ by case as one. */
  looseCollationOf({ model }: TenantTable): string | undefined {
    return this.#collations.get(model)
  }

  get dialect(): string {
    return this.#sequelize.getDialect()
  }

  /** How many characters of a tenant every table holds. */
  get longest(): number {
    return this.#longest
  }

  /** Several tables in one statement, as only programs that call the generator write them. */
  hasSome(tables: readonly unknown[]): boolean {
    return tables.some((table) => this.of(Array.isArray(table) ? table[0] : table) !== undefined)
  }

  // Names differ by the case of their letters on some systems only; a table that is limited by mistake fails.
  #nameOf(table: unknown): string {
    return queryGeneratorOf(this.#sequelize).quoteTable(withoutAlias(table)).toLowerCase()
  }
}

/** Without the schema. */
function bareName(table: unknown): string {
  const name = typeof table === 'object' && table !== null && 'tableName' in table ? table.tableName : table
  return String(name).toLowerCase()
}

function withoutAlias(table: unknown): unknown {
  if (typeof table !== 'object' || table === null) return table
  const { tableName, schema, delimiter } = table as { tableName?: unknown; schema?: unknown; delimiter?: unknown }
  return { tableName, schema, delimiter }
}

function tenantTable(model: ModelStatic<Model>, column: string): TenantTable | undefined {
  const attributes = Object.entries(modelInternals(model).rawAttributes)
  const found = attributes.find(([name, { field = name }]) => field === column)
  return found && { model, column, attribute: found[0] }
}

function kindOf({ model, attribute }: TenantTable): TenantKind {
  switch (dataTypeInternals(model.getAttributes()[attribute]?.type).key) {
    case 'INTEGER':
      return 'integer'
    case 'BIGINT':
      return 'bigint'
    case 'UUID':
      return 'uuid'
    case 'STRING':
    case 'TEXT':
      return 'text'
    default:
      throw new BootError(
        `tenancy(): ${model.name}.${attribute} has another type than INTEGER, BIGINT, UUID, STRING or TEXT. Give it one of these.`,
      )
  }
}
