import { Model as SequelizeModel, type ModelStatic } from 'sequelize'
import { compileEncoder } from '../../schema/output/encode.js'
import { recordReading } from '../../schema/output/record-reading.js'
import { ResponseMismatchError } from '../../schema/output/response-mismatch.js'
import { describedBy, type ObjectShape, type Property, type Shape } from '../../schema/shape/shape.js'
import { memo } from '../../core/memo.js'
import { shapeOf } from '../../schema/shape/shape-of.js'
import { modelClass } from '../sequelize/internals.js'
import { associationsOf } from './associations.js'
import { refuseCostlyRules } from './column-patterns.js'
import { columnShape, isJson, isVirtual } from './column-shape.js'
import { type Column, columnsOf } from './columns.js'
import { constrainedColumns } from './constrained-columns.js'
import { withParsedJson } from './json-text.js'
import { ownToJson } from './own-reading.js'
import { instanceReading } from './read-columns.js'

/** Gives every Sequelize model a shape, made from its columns and associations, so that it can be a response or the source of a dto. */
describedBy.write(SequelizeModel, (type) => modelShape(modelClass(type)))
Object.defineProperty(SequelizeModel.prototype, recordReading, { value: instanceReading })

function modelShape(model: ModelStatic<SequelizeModel>): ObjectShape {
  const columns = memo(() => propertiesOf(model))
  const selectable = () => new Map([...columns(), ...associatedTo(model)])
  const jsonColumns = memo(() =>
    Object.entries(columnsOf(model)).flatMap(([name, { type }]) => (isJson(type) ? [name] : [])),
  )
  return {
    kind: 'object',
    name: model.name,
    origin: model,
    properties: () => new Map([...selectable()].filter(([, { writeOnly }]) => !writeOnly)),
    selectable,
    rowKey: () => keyOf(model),
    keyNames: () => model.primaryKeyAttributes ?? [],
    read: (value) => readModel(withParsedJson(value, jsonColumns)),
  }
}

function propertiesOf(model: ModelStatic<SequelizeModel>): readonly (readonly [string, Property])[] {
  const columns = columnsOf(model)
  const constrained = constrainedColumns(model, columns)
  return Object.entries(columns).map(([name, column]) => {
    refuseCostlyRules(`${model.name}.${name}`, column.validate)
    return [name, { ...toProperty(column), ...(constrained.has(name) ? { mayConflict: true } : {}) }]
  })
}

function readModel(value: object): object {
  const toJSON = ownToJson(value)
  return toJSON ? toJSON.call(value) : value
}

function associatedTo(model: ModelStatic<SequelizeModel>): [string, Property][] {
  return associationsOf(model).map(({ name, target, many }) => {
    const one = shapeOf(target())
    const shape: Shape = many ? { kind: 'array', items: one } : { ...one, nullable: true }
    return [name, { shape, optional: true, readOnly: true, associated: true }]
  })
}

function keyOf(model: ModelStatic<SequelizeModel>): readonly string[] {
  return Object.entries(columnsOf(model)).flatMap(([name, { primaryKey, implied }]) =>
    primaryKey && !implied ? name : [],
  )
}

function toProperty(column: Column): Property {
  const nullable = column.allowNull !== false && column.primaryKey !== true
  const typed = columnShape(column)
  const shape = {
    ...typed,
    ...(nullable ? { nullable } : typed.kind === 'any' ? { notNull: true } : {}),
    ...(column.comment ? { description: column.comment } : {}),
  }
  const generated = nullable || column.autoIncrement === true || column.defaultValue !== undefined
  const virtual = isVirtual(column.type)
  // A virtual column without a getter is only written, such as a password.
  const writeOnly = virtual && column.get === undefined
  const readOnly = column.managed === true || (virtual && !writeOnly && column.set === undefined)
  return {
    shape,
    optional: column.implied === true && !nullable && !column.primaryKey,
    generated,
    ...(writeOnly ? { writeOnly } : {}),
    ...(readOnly ? { readOnly } : {}),
    ...literalDefault(shape, column.defaultValue),
  }
}

// Only a literal that is valid output. The OpenAPI document cannot show a value that the database or a function computes.
function literalDefault(shape: Shape, value: unknown): { default?: unknown } {
  if (!isLiteral(value)) return {}
  try {
    compileEncoder(shape, { checks: false })(value)
    return { default: value }
  } catch (error) {
    if (error instanceof ResponseMismatchError) return {}
    throw error
  }
}

function isLiteral(value: unknown): boolean {
  if (typeof value !== 'object' || value === null)
    return ['string', 'number', 'boolean', 'bigint'].includes(typeof value)
  const prototype: unknown = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === Object.prototype || value instanceof Date
}
