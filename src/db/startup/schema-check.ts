import { MetadataKey } from '../../di/metadata.js'
import { tableNameOf } from '../models/table-name.js'
import type { Model, ModelAttributeColumnOptions, ModelStatic, Sequelize } from 'sequelize'
import { BootError } from '../../core/boot-error.js'
import type { Catalog } from '../catalog/catalog.js'
import { readTables } from '../catalog/read-tables.js'
import { refuseCostlyRules } from '../models/column-patterns.js'
import { DatabaseStartError } from '../errors.js'
import { dataTypeInternals } from '../sequelize/internals.js'
import { columnsIn, describedColumns, type TableColumn, type TableColumns, rememberColumns } from './table-columns.js'

/** Advice on the missing table of a model that belongs to a part of this package: a sentence for the error at startup. */
export const howToCreate = new MetadataKey<string>()

/** @throws BootError that names each property of a model's class that hides, or overwrites, a column of the same name. */
export function refuseShadowedColumns(models: readonly ModelStatic<Model>[]): void {
  const shadowed = models.flatMap((model) => shadowedBy(model).map((name) => ({ model: model.name, name })))
  const [first] = shadowed
  if (!first) return
  throw new BootError(
    `${shadowed.map(({ model, name }) => `${model}.${name}`).join(', ')}: the property hides or overwrites the column of the same name, ` +
      `so that the value in the database is never read. Write 'declare' before it, without a value: declare ${first.name}: ...  ` +
      `(write a default value as @Column({ defaultValue })).`,
  )
}

// With useDefineForClassFields 'name!: string' creates an own property of the instance. 'name = 1' sets the column of every instance, also after a read.
function shadowedBy(model: ModelStatic<Model>): string[] {
  const instance: Model = model.build({}, { isNewRecord: false, raw: true })
  const names = Object.keys(model.getAttributes())
  return names.filter((name) => Object.hasOwn(instance, name) || instance.getDataValue(name) !== undefined)
}

/** @throws BootError that names each column whose values Sequelize would corrupt. */
export function refuseCorruptedColumns(models: readonly ModelStatic<Model>[]): void {
  const corrupted = models.flatMap((model) =>
    Object.entries(model.getAttributes()).flatMap(([name, { type }]) =>
      isArrayOfBlobs(type) ? `${model.name}.${name}` : [],
    ),
  )
  if (corrupted.length === 0) return
  throw new BootError(
    `${corrupted.join(', ')}: Sequelize writes other bytes into an ARRAY(BLOB) than those of the value. Use a second table with one BLOB in each row.`,
  )
}

function isArrayOfBlobs(type: unknown): boolean {
  const { key, type: items } = dataTypeInternals(type)
  return key === 'ARRAY' && dataTypeInternals(items).key === 'BLOB'
}

/** @throws BootError for a `validate` with a regular expression that takes too long for some inputs; names the column and the rule. */
export function refuseCostlyPatterns(models: readonly ModelStatic<Model>[]): void {
  for (const model of models)
    for (const [name, { validate }] of Object.entries(model.getAttributes()))
      refuseCostlyRules(`${model.name}.${name}`, validate)
}

/**
 * Compares the models with their tables.
 *
 * @param mayBeMissing whether a table may be missing, because the start of the app creates it.
 * @returns the tables; undefined for a server that cannot describe them.
 * @throws DatabaseStartError that names every missing table and column, and every column with another nullability.
 */
export async function checkTables(
  sequelize: Sequelize,
  models: readonly ModelStatic<Model>[],
  { mayBeMissing }: { readonly mayBeMissing: boolean },
): Promise<Catalog | undefined> {
  const catalog = await readTables(sequelize, models)
  const problems: string[] = []
  for (const model of models) {
    const columns = catalog ? columnsIn(catalog, model) : await describedColumns(sequelize, model)
    problems.push(...differences(sequelize, model, columns, mayBeMissing))
  }
  if (problems.length === 0) return catalog
  throw new DatabaseStartError(
    `The tables do not match the models:\n${problems.map((problem) => `  ${problem}\n`).join('')}` +
      `Run your migrations. To try the app out, create missing tables with toolkit_sync=true, or newLifespan(url, { sync: true }).`,
  )
}

function differences(
  sequelize: Sequelize,
  model: ModelStatic<Model>,
  columns: TableColumns | undefined,
  mayBeMissing: boolean,
): string[] {
  if (!columns) return mayBeMissing ? [] : [missingTable(model)]
  rememberColumns(sequelize, model, columns)
  return Object.entries(model.getAttributes())
    .filter(([, { type }]) => !isVirtual(type))
    .flatMap(([name, attribute]) =>
      difference(columns.get(attribute.field ?? name), attribute, `${model.name}.${name}`, tableNameOf(model)),
    )
}

function missingTable(model: ModelStatic<Model>): string {
  const remedy = howToCreate.inherited(model)
  return `table ${tableNameOf(model)} is missing (model ${model.name})${remedy === undefined ? '' : `. ${remedy}`}`
}

function difference(
  column: TableColumn | undefined,
  attribute: ModelAttributeColumnOptions,
  name: string,
  table: string,
): string[] {
  const where = `column ${attribute.field ?? name.split('.')[1]} in table ${table}`
  if (!column) return [`${where.replace(' in ', ' is missing in ')} (${name})`]
  if (column.primaryKey || attribute.primaryKey || attribute.autoIncrement) return []
  const nullable = attribute.allowNull !== false
  if (column.allowNull && !nullable)
    return [`${where} may be NULL, but ${name} has allowNull: false. Add NOT NULL, or remove allowNull`]
  const hasDefault = attribute.defaultValue !== undefined || column.hasDefault
  return column.allowNull === false && nullable && !hasDefault
    ? [`${where} is NOT NULL, but ${name} may be null. Write allowNull: false`]
    : []
}

function isVirtual(type: unknown): boolean {
  return typeof type === 'object' && type !== null && 'key' in type && type.key === 'VIRTUAL'
}
