import { literal, Model, type ModelStatic } from 'sequelize'
import type { ValueVersion } from '../../schema/shape/shape.js'
import { modelInternals, modelOf, queryGeneratorOf, sequelizeOf } from '../sequelize/internals.js'
import { isVirtual } from './column-shape.js'

/**
 * The version of a row; undefined if it is not the instance of a model with `version: true`, or was read without that column.
 *
 * @param names the properties that are sent of it. If one that the row has is no column of its own, the version does not cover it.
 */
export function rowVersion(row: unknown, names: readonly string[]): ValueVersion | undefined {
  if (!(row instanceof Model)) return undefined
  const model = modelOf(row)
  const attribute = modelInternals(model)._versionAttribute
  const version: unknown = attribute === undefined ? undefined : row.getDataValue(attribute)
  if (version === undefined || version === null) return undefined
  const columns = model.getAttributes()
  const isCovered = (name: string) => {
    const column = columns[name]
    return column ? !isVirtual(column.type) : Reflect.get(row, name) === undefined
  }
  return { version: String(version), coversBody: names.every(isCovered) }
}

const counted = new WeakSet<object>()

/**
 * Makes `Hero.update(values, { where })` increment the version of the rows, as `hero.save()` does: Sequelize leaves it as it is, and a client would
 * get a 304 for a changed row. Does nothing for what is no model with `version: true`.
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
    options.attributes = { ...options.attributes, [version]: literal(`${columnOf(model, version)} + 1`) }
    options.fields?.push(version)
  })
}

function columnOf(model: ModelStatic<Model>, attribute: string): string {
  return queryGeneratorOf(sequelizeOf(model)).quoteIdentifier(model.getAttributes()[attribute]?.field ?? attribute)
}

/** What the hook receives, and may replace; the types of Sequelize have no `attributes`. */
interface BulkUpdate {
  attributes?: Readonly<Record<string, unknown>>
  readonly fields?: (string | number | symbol)[] | undefined
  readonly individualHooks?: boolean | undefined
}
