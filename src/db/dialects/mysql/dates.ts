import { type ModelStatic, type Model, type Sequelize, Utils } from 'sequelize'
import { dataTypeInternals, parserStoreOf, sequelizeInternals } from '../../sequelize/internals.js'
import type { DriverField } from '../../sequelize/connection-manager.js'

/** The functions that {@link readEarlyYears} has made, with the dialect of their connections. */
const casts = new WeakMap<object, string>()

/**
 * Makes the driver's connections read the years 1 to 99 of a DATETIME. Sequelize writes a space between day and time, with which JavaScript
 * reads them as 1950 to 2049.
 */
export function readEarlyYears(sequelize: Sequelize): void {
  const { connectionManager: manager, options } = sequelizeInternals(sequelize)
  const { timezone, dialect } = options
  const isOffset = OFFSET.test(timezone) // Sequelize reads the times of a named zone by another function
  const typeCast = (field: DriverField, next: () => unknown): unknown => {
    if (field.type !== 'DATETIME' || !isOffset) return manager.constructor._typecast?.call(manager, field, next)
    const text = field.string()
    return text === null ? null : new Date(`${text.replace(' ', 'T')}${timezone}`)
  }
  casts.set(typeCast, dialect)
  sequelize.addHook('beforeConnect', (config) => {
    config.dialectOptions = Object.assign({ typeCast }, config.dialectOptions)
  })
}

/** Whether the `typeCast` of a connection leaves the values of this type to the driver. */
export function readsWithoutCast(typeCast: object, type: string): boolean {
  const dialect = casts.get(typeCast)
  return dialect !== undefined && type !== 'DATETIME' && parserStoreOf(dialect).get(type) === undefined
}

const OFFSET = /^[+-]\d\d:\d\d$/

/** The attributes whose type {@link keepMilliseconds} has set. */
const withMilliseconds = new WeakMap<ModelStatic<Model>, Set<string>>()

/**
 * Gives columns of the type DATE without a precision three digits after the second, as on the other databases. It is the type of the tables
 * that `sync` creates.
 */
export function keepMilliseconds(sequelize: Sequelize): void {
  for (const model of Object.values(sequelize.models)) addMilliseconds(model)
  sequelize.addHook('afterDefine', (model) => addMilliseconds(model as ModelStatic<Model>)) // the type of its argument lacks statics
}

function addMilliseconds(model: ModelStatic<Model>): void {
  const names = new Set(withMilliseconds.get(model))
  withMilliseconds.set(model, names)
  for (const [name, attribute] of Object.entries(model.getAttributes())) {
    const { key, _length } = dataTypeInternals(attribute.type)
    // MySQL requires the precision of the column in a default such as CURRENT_TIMESTAMP.
    if (key !== 'DATE' || _length || attribute.defaultValue instanceof Utils.SequelizeMethod) continue
    names.add(name)
    attribute.type = Reflect.construct(attribute.type.constructor, [3])
  }
}

/**
 * Undoes {@link keepMilliseconds} for the columns of an existing table that hold whole seconds. A condition with milliseconds would not find
 * the value that it was written with, and MySQL would round it up.
 */
export function keepWholeSeconds(model: ModelStatic<Model>, typeOf: (column: string) => string | undefined): void {
  for (const [name, attribute] of Object.entries(model.getAttributes())) {
    const { type, field = name } = attribute
    if (!withMilliseconds.get(model)?.has(name)) continue
    if (WHOLE_SECONDS.test(typeOf(field) ?? '')) attribute.type = Reflect.construct(type.constructor, [])
  }
}

export const WHOLE_SECONDS = /^(?:datetime|timestamp)(?:\(0\))?$/i
