import { createHash } from 'node:crypto'
import { literal, Model, type ModelAttributeColumnOptions, type ModelStatic } from 'sequelize'
import type { ValueVersion } from '../../schema/shape/shape.js'
import { dataTypeInternals, modelInternals, modelOf, queryGeneratorOf, sequelizeOf } from '../sequelize/internals.js'
import { isJson, isVirtual } from './column-shape.js'
import { hasOwnGetter, readsItself } from './own-reading.js'

/** How the instance was made: by a read, or by a write, whose values the database may have stored otherwise. */
export type RowSource = 'read' | 'written'

/**
 * The version of a row; undefined if it is not the instance of a model with `version: true`, or was read without that column or its primary key.
 * In addition to the number it has a digest of the model, the key, and the sent values, so that it is that of no other row, and of none that is made
 * again under the same key. Only sent values: from a digest, values can be guessed.
 *
 * @param names the properties that are sent of it. If one that the row has is not the value of a column, or its class decides what is read of it, the
 *   version does not cover it.
 */
export function rowVersion(row: unknown, names: readonly string[], source: RowSource): ValueVersion | undefined {
  if (!(row instanceof Model)) return undefined
  const identity = identityOf(row)
  if (!identity) return undefined
  const columns = columnsOf(identity.model)
  const changed = new Set<string>(row.changed() || [])
  const isValue = (name: string) =>
    columns.get(name)?.isValue === true && !changed.has(name) && !Object.hasOwn(row, name)
  const isCovered = (name: string) => isValue(name) || (!columns.has(name) && Reflect.get(row, name) === undefined)
  const isExact = (name: string) => source === 'read' || columns.get(name)?.isStoredAsGiven(row.getDataValue(name))
  const digested = names.filter((name) => isValue(name) && row.getDataValue(name) !== undefined && isExact(name))
  const coversBody = names.every(isCovered) && !readsItself(row)
  return { version: versionText(row, identity, maskOf(columns, digested)), coversBody }
}

/** The version of a row by only its number and its key; undefined as for {@link rowVersion}. */
export function keyVersion(row: Model): string | undefined {
  const identity = identityOf(row)
  return identity && versionText(row, identity, 0n)
}

/** The text that {@link rowVersion} writes, which a digest of the body may follow. */
const VERSION = /^(\d{1,15})-([0-9a-z]{1,200})-([\w-]{22})(?:-[\w-]{22})?$/

/** Whether this is the version of the row as it is, which was read with all of its columns. */
export function hasVersion(row: Model, version: string): boolean {
  const identity = identityOf(row)
  const [, number, mask, digest] = VERSION.exec(version) ?? []
  if (!identity || mask === undefined || number !== identity.version) return false
  const sent = bitsOf(mask)
  if ((sent & ~sentMask(identity.model)) !== 0n) return false
  return versionText(row, identity, sent) === `${number}-${mask}-${digest}`
}

interface Identity {
  readonly model: ModelStatic<Model>
  readonly version: string
  readonly key: readonly unknown[]
}

function identityOf(row: Model): Identity | undefined {
  const model = modelOf(row)
  const attribute = modelInternals(model)._versionAttribute
  const version: unknown = attribute === undefined ? undefined : row.getDataValue(attribute)
  const key = model.primaryKeyAttributes.map((name): unknown => row.getDataValue(name))
  if (version === undefined || version === null || key.length === 0 || key.includes(undefined)) return undefined
  return { model, version: String(version), key }
}

function versionText(row: Model, { model, version, key }: Identity, mask: bigint): string {
  const sent = [...columnsOf(model).values()].filter(({ bit }) => (mask & bit) !== 0n)
  const values = sent.map((column) => [column.name, comparable(row.getDataValue(column.name), column)])
  const parts = [model.getTableName(), key.map((value) => comparable(value)), version, values]
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)
  return `${version}-${mask.toString(36)}-${digest}`
}

function maskOf(columns: VersionedColumns, names: readonly string[]): bigint {
  return names.reduce((mask, name) => mask | (columns.get(name)?.bit ?? 0n), 0n)
}

function bitsOf(mask: string): bigint {
  return [...mask].reduce((bits, digit) => bits * 36n + BigInt(parseInt(digit, 36)), 0n)
}

// Drivers return one value in several forms, such as 1 and true. In JSON, these are two values.
function comparable(value: unknown, column?: VersionedColumn): unknown {
  if (column?.isJson) return value
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (typeof value === 'bigint' || typeof value === 'number') return String(value)
  return column?.isUuid && typeof value === 'string' ? value.toLowerCase() : value
}

/** The facts that the version of each row needs to know of a column. */
interface VersionedColumn {
  readonly name: string
  /** In the mask of the sent columns. */
  readonly bit: bigint
  readonly isJson: boolean
  readonly isUuid: boolean
  /** Whether the property of a row is what is stored, unless the row has one of its own. */
  readonly isValue: boolean
  /** Whether the database returns what was written: not with fewer digits, without spaces, or rounded. */
  readonly isStoredAsGiven: (value: unknown) => boolean
}

type VersionedColumns = ReadonlyMap<string, VersionedColumn>

/** By the attributes of the model, which are others when it is mapped again, and those of a scope of the model. */
const known = new WeakMap<object, VersionedColumns>()

function columnsOf(model: ModelStatic<Model>): VersionedColumns {
  const attributes = model.getAttributes()
  const found = known.get(attributes) ?? new Map(toVersioned(model))
  known.set(attributes, found)
  return found
}

function toVersioned(model: ModelStatic<Model>): (readonly [string, VersionedColumn])[] {
  return Object.entries(model.getAttributes()).map(([name, column], index) => [
    name,
    {
      name,
      bit: 1n << BigInt(index),
      isJson: isJson(column.type),
      isUuid: dataTypeInternals(column.type).key === 'UUID',
      isValue: !isVirtual(column.type) && !hasOwnGetter(model, name),
      isStoredAsGiven: storedAsGiven(column, model),
    },
  ])
}

const EXACT: ReadonlySet<string | undefined> = new Set([
  'STRING',
  'TEXT',
  'TINYINT',
  'SMALLINT',
  'MEDIUMINT',
  'INTEGER',
  'BIGINT',
  'BOOLEAN',
  'UUID',
  'ENUM',
])

function storedAsGiven(column: ModelAttributeColumnOptions, model: ModelStatic<Model>): (value: unknown) => boolean {
  const { key, _binary, _length: length = 6 } = dataTypeInternals(column.type)
  if (key === 'DATE') return (value) => value instanceof Date && length >= 3 && keepsMilliseconds(model)
  const isExact = EXACT.has(key) && !_binary
  return (value) => isExact && (value === null || /^(?:string|number|bigint|boolean)$/.test(typeof value))
}

function keepsMilliseconds(model: ModelStatic<Model>): boolean {
  return /^(?:sqlite|postgres)$/.test(sequelizeOf(model).getDialect())
}

const sentNames = new WeakMap<object, (() => readonly string[])[]>()

/** Registers which columns of a model are sent with a version: a client can ask for the digest of no others. */
export function addSentNames(type: unknown, names: () => readonly string[]): void {
  if (typeof type === 'function') sentNames.set(type, [...(sentNames.get(type) ?? []), names])
}

// All, if this app sends none: the tags are those of another.
function sentMask(model: ModelStatic<Model>): bigint {
  const columns = columnsOf(model)
  for (let type: unknown = model; typeof type === 'function' && type !== Model; type = Object.getPrototypeOf(type)) {
    const sent = sentNames.get(type)
    if (sent)
      return maskOf(
        columns,
        sent.flatMap((names) => names()),
      )
  }
  return maskOf(columns, [...columns.keys()])
}

const counted = new WeakSet<object>()

/**
 * Makes `Hero.update(values, { where })` increment the version of the rows, as `hero.save()` does: Sequelize leaves it as it is, and a client would
 * get a 304 for a changed row. Does nothing for anything but a model with `version: true`.
 */
export function countBulkUpdates(type: unknown): void {
  if (typeof type !== 'function' || !(type.prototype instanceof Model)) return
  counted.add(type)
  countWantedBulkUpdates([type as unknown as ModelStatic<Model>]) // a subclass of Model
}

/** Called when models are mapped: before, they have no columns, and keep no hooks. */
export function countWantedBulkUpdates(models: readonly ModelStatic<Model>[]): void {
  for (const model of models) if (counted.has(model) && model.sequelize) addBulkHook(model)
}

const HOOK = 'sequitur: increment the version'

function addBulkHook(model: ModelStatic<Model>): void {
  const { _versionAttribute: version, _timestampAttributes } = modelInternals(model)
  if (version === undefined) return
  model.removeHook('beforeBulkUpdate', HOOK)
  model.addHook('beforeBulkUpdate', HOOK, (options: BulkUpdate) => {
    const names = Object.keys(options.attributes ?? {}).filter((name) => name !== _timestampAttributes.updatedAt)
    // With hooks of each row, Sequelize may save the instances one by one, which needs the version as a number.
    if (options.individualHooks || names.length === 0 || names.includes(version)) return
    options.attributes = { ...options.attributes, [version]: literal(`${columnName(model, version)} + 1`) }
    options.fields?.push(version)
  })
}

function columnName(model: ModelStatic<Model>, attribute: string): string {
  return queryGeneratorOf(sequelizeOf(model)).quoteIdentifier(model.getAttributes()[attribute]?.field ?? attribute)
}

/** The options that the hook receives, and may replace; the types of Sequelize have no `attributes`. */
interface BulkUpdate {
  attributes?: Readonly<Record<string, unknown>>
  readonly fields?: (string | number | symbol)[] | undefined
  readonly individualHooks?: boolean | undefined
}
