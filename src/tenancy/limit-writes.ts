import type { Model, ModelStatic } from 'sequelize'
import { modelInternals } from '../db/sequelize/internals.js'
import { howToCompareBytes } from './column-facts.js'
import { NoTenantError, OtherTenantError, TenancyError } from './errors.js'
import type { StatementLimits, StatementOptions } from './statement-limits.js'
import type { TenantTable } from './tenant.js'
import type { RowValues } from '../db/sequelize/query-generator.js'

/** Gives new rows their tenant, and adds the condition of the tenant to each UPDATE and DELETE. */
export function limitWrites(limits: StatementLimits): void {
  limitInserts(limits)
  limitUpdates(limits)
  limitDeletes(limits)
  for (const { model, attribute } of limits.tables.all) fillInstances(limits, model, attribute)
}

function limitInserts(limits: StatementLimits): void {
  const { generator } = limits
  const { insertQuery, bulkInsertQuery } = generator
  generator.insertQuery = (table, values: RowValues, attributes, options: StatementOptions = {}, ...rest) =>
    limits.generate(options, () => {
      const own = ownRow(limits, table, values)
      refuseUpsertsOfOthers(limits, table, [own], options)
      return insertQuery.call(generator, table, own, attributes, options, ...rest)
    })
  generator.bulkInsertQuery = (table, rows, options: StatementOptions = {}, ...rest) =>
    limits.generate(options, () => {
      const own = rows.map((row) => ownRow(limits, table, row))
      refuseUpsertsOfOthers(limits, table, own, options)
      return bulkInsertQuery.call(generator, table, own, options, ...rest)
    })
}

function ownRow(limits: StatementLimits, name: unknown, row: RowValues): RowValues {
  const limit = limits.limitOf(name)
  if (!limit) return row
  const { table, text } = limit
  const value = row[table.column]
  if (value === undefined || value === null) return { ...row, [table.column]: limits.valueOf(text) }
  if (!isSame(value, text)) throw new OtherTenantError(table.model.name, table.attribute)
  return row
}

// An upsert would change the row with the same key: also one of another tenant, unless the key has the tenant.
function refuseUpsertsOfOthers(
  limits: StatementLimits,
  name: unknown,
  rows: readonly RowValues[],
  options: StatementOptions,
): void {
  const limit = options.updateOnDuplicate && !limits.hasPolicies ? limits.limitOf(name) : undefined
  if (!limit) return
  const { table } = limit
  const keys = keysOfUpsert(limits, table, rows, options)
  const sharedKey = keys.find((key) => !key.includes(table.column))
  if (sharedKey)
    throw new TenancyError(
      `An upsert of ${table.model.name} could change the row of another tenant with the same ${sharedKey.join(', ')}, and was refused. Add ${table.column} to that key, or write findOne() and create() or update().`,
    )
  const collation = limits.tables.looseCollationOf(table)
  if (collation !== undefined && keys.length > 0)
    throw new TenancyError(
      `An upsert of ${table.model.name} could change the row of a tenant whose name differs only by case, and was refused: its keys compare ${table.column} by the collation ${collation}. ${howToCompareBytes(limits.dialect, table)}, or write findOne() and create() or update().`,
    )
}

/** The keys by which an upsert may find a row. */
function keysOfUpsert(
  { dialect, tables }: StatementLimits,
  table: TenantTable,
  rows: readonly RowValues[],
  { upsertKeys }: StatementOptions,
): readonly (readonly string[])[] {
  if (dialect === 'sqlite') return [Array.isArray(upsertKeys) ? upsertKeys.map(String) : []]
  const { autoIncrementAttribute: name, rawAttributes } = modelInternals(table.model)
  const generated = name === null ? undefined : (rawAttributes[name]?.field ?? name)
  const hasNone = (column: string) => rows.every((row) => row[column] === undefined || row[column] === null)
  // A number that the database generates meets no row.
  return tables
    .keysOf(table)
    .map(({ columns }) => columns)
    .filter((key) => !(key.length === 1 && key[0] !== undefined && key[0] === generated && hasNone(key[0])))
}

function limitUpdates(limits: StatementLimits): void {
  const { generator } = limits
  const { updateQuery, arithmeticQuery } = generator
  generator.updateQuery = (table, values: RowValues, where, options: StatementOptions = {}, ...rest) =>
    limits.generate(options, () => {
      refuseMoves(limits, table, values)
      addSelectOfLimit(limits, options)
      return updateQuery.call(generator, table, values, limits.limitedWhere(table, where), options, ...rest)
    })
  generator.arithmeticQuery = (
    operator,
    table,
    where,
    amounts: RowValues,
    values: RowValues,
    options: StatementOptions,
    ...rest
  ) =>
    limits.generate(options, () => {
      refuseMoves(limits, table, values)
      refuseMoves(limits, table, amounts, { always: true })
      const limited = limits.limitedWhere(table, where)
      return arithmeticQuery.call(generator, operator, table, limited, amounts, values, options, ...rest)
    })
}

function limitDeletes(limits: StatementLimits): void {
  const { generator } = limits
  const { deleteQuery, truncateTableQuery } = generator
  generator.deleteQuery = (table, where, options: StatementOptions, model) =>
    limits.generate(options, () => {
      addSelectOfLimit(limits, options)
      return deleteQuery.call(generator, table, limits.limitedWhere(table, where), options, model)
    })
  generator.truncateTableQuery = (table, options: StatementOptions = {}) =>
    limits.generate(options, () => {
      const { table: found } = limits.limitOf(table) ?? {}
      if (found)
        throw new TenancyError(
          `${found.model.name}.truncate() would delete the rows of all tenants, and was refused. Write ${found.model.name}.destroy({ where: {} }).`,
        )
      return truncateTableQuery.call(generator, table, options)
    })
}

function refuseMoves(limits: StatementLimits, name: unknown, values: RowValues = {}, { always = false } = {}): void {
  const limit = limits.limitOf(name)
  if (!limit) return
  limits.checkNewValues(values)
  if (!Object.hasOwn(values, limit.table.column)) return
  const { table, text } = limit
  if (always || !isSame(values[table.column], text)) throw new OtherTenantError(table.model.name, table.attribute)
}

// SQLite has no LIMIT there: Sequelize writes a subquery.
function addSelectOfLimit(limits: StatementLimits, options: StatementOptions | undefined): void {
  if (options?.limit && limits.dialect === 'sqlite') limits.addSelects(1)
}

function isSame(value: unknown, text: string): boolean {
  return (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') && String(value) === text
}

const HOOK = 'sequitur: tenant'

/** New instances have their tenant before they are validated, and are returned with it. Without hooks, only their rows have it. */
function fillInstances(limits: StatementLimits, model: ModelStatic<Model>, attribute: string): void {
  const name = attribute as never // TypeScript does not know the attributes of the model
  const fill = (instance: Model, options: object = {}) => {
    const value: unknown = instance.getDataValue(name)
    if (!instance.isNewRecord || (value !== undefined && value !== null)) return
    const text = tenantOf(limits, options as StatementOptions) // Sequelize's types leave the transaction out
    if (text !== undefined) instance.setDataValue(name, limits.valueOf(text) as never)
  }
  // Also removes the hooks of a model that was mapped to another database before.
  for (const type of ['beforeValidate', 'beforeBulkCreate'] as const) model.removeHook(type, HOOK)
  model.addHook('beforeValidate', HOOK, fill)
  model.addHook('beforeBulkCreate', HOOK, (instances: readonly Model[], options: object) => {
    for (const instance of instances) fill(instance, options)
  })
}

/** Undefined if there is none: the statement is refused then. */
function tenantOf(limits: StatementLimits, options: StatementOptions): string | undefined {
  try {
    const reach = limits.unitOf(options)?.reach()
    return reach?.kind === 'tenant' ? reach.text : undefined
  } catch (error) {
    if (error instanceof NoTenantError || error instanceof TenancyError) return undefined
    throw error
  }
}
