import { DataTypes, type Sequelize, Utils } from 'sequelize'
import { queryGeneratorOf, sequelizeInternals } from '../sequelize/internals.js'
import type { Sql } from './statement.js'

/**
 * The statement with values that every driver binds with the same meaning: dates as Sequelize writes them to DATE columns, bytes as a Buffer.
 *
 * @throws TypeError for a value that a driver would bind as something else, such as a list as '[object Object]'.
 */
export function withBindableValues<Row>(statement: Sql<Row>, sequelize: Sequelize): Sql<Row> {
  const { values } = statement
  if (!values.some(isObjectLike)) return statement
  return { ...statement, values: values.map((value, index) => toBindable(value, statement.texts[index], sequelize)) }
}

function isObjectLike(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function' || typeof value === 'symbol'
}

function toBindable(value: unknown, before = '', sequelize: Sequelize): unknown {
  if (!isObjectLike(value) || Buffer.isBuffer(value)) return value
  if (value instanceof Date) return dateText(value, before, sequelize)
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  const isSql = value instanceof Utils.SequelizeMethod
  // pg sends lists as arrays, and other objects as JSON.
  if (typeof value === 'object' && !isSql && sequelize.getDialect() === 'postgres') return value
  throw new TypeError(
    `${placeOf(before)} is ${describeValue(value)}, which cannot be bound. ${suggestion(value, isSql)}`,
  )
}

function dateText(date: Date, before: string, sequelize: Sequelize): string {
  if (Number.isNaN(date.getTime())) throw new TypeError(`${placeOf(before)} is an invalid date.`)
  const type = sequelizeInternals(sequelize).normalizeDataType(DataTypes.DATE(6))
  return queryGeneratorOf(sequelize).escape(date, { type }).slice(1, -1) // without the quotes of the literal
}

function placeOf(before: string): string {
  return `sql: the value after '${before.trim().slice(-40)}'`
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value !== 'object') return `a ${typeof value}`
  const name = value?.constructor.name
  return name === undefined || name === 'Object' ? 'an object' : `an object of the class ${name}`
}

function suggestion(value: unknown, isSql: boolean): string {
  if (isSql) return 'Write its SQL into the statement.'
  if (Array.isArray(value))
    return (
      'Write a ${} for each element: ids.map((id) => sql`${id}`).reduce((list, id) => sql`${list}, ${id}`), ' +
      'call session.all(select(Hero, { where: { id: ids } })), or, for a column with JSON, write ${JSON.stringify(list)}.'
    )
  return 'Write one of its properties; for a column with JSON, ${JSON.stringify(value)}.'
}
