import {
  literal,
  type Model,
  type ModelAttributeColumnOptions,
  type ModelStatic,
  type Sequelize,
  Utils,
} from 'sequelize'
import type { ImpossibleValueError } from '../errors.js'
import { type Arithmetic, modelInternals, queryGeneratorOf, queryInterfaceOf } from '../sequelize/internals.js'
import { columnShape } from '../models/column-shape.js'
import { isNumeric } from '../sql/values.js'
import { impossibleValue } from './impossible-values.js'
import { textOf, wholeDigits } from './value-readers.js'
import type { AttributeInternals, RowValues } from '../sequelize/query-generator.js'

/**
 * Makes `increment()` and `decrement()` refuse the same amounts and conditions on all databases. Sequelize writes both without the types of
 * their columns: SQLite would add 1.5 to an INTEGER, MySQL would take the condition `id = 'not'` for `id = 0`.
 */
export function refuseImpossibleIncrements(
  sequelize: Sequelize,
  onRefusal: (error: ImpossibleValueError) => unknown,
): void {
  const generator = queryGeneratorOf(sequelize)
  replaceIncrements(sequelize, (send) => async (model, table, where, amounts, ...rest) => {
    const condition = generator.whereItemsQuery(where, { model })
    return send(model, table, condition ? literal(condition) : where, readAmounts(model, amounts, onRefusal), ...rest)
  })
}

/** Replaces what sends the statements of `increment()` and `decrement()`. */
export function replaceIncrements(
  sequelize: Sequelize,
  replace: (send: Arithmetic, operator: '+' | '-') => Arithmetic,
): void {
  const queries = queryInterfaceOf(sequelize)
  queries.increment = replace(queries.increment.bind(queries), '+')
  queries.decrement = replace(queries.decrement.bind(queries), '-')
}

type ColumnAttribute = ModelAttributeColumnOptions & AttributeInternals

/** The attribute of a column, by the name of the column. */
export function attributeOfColumn(model: ModelStatic<Model>, column: string): ColumnAttribute | undefined {
  return model.getAttributes()[modelInternals(model).fieldAttributeMap[column] ?? column]
}

function readAmounts(
  model: ModelStatic<Model>,
  amounts: RowValues,
  onRefusal: (error: ImpossibleValueError) => unknown,
): RowValues {
  return Object.fromEntries(
    Object.entries(amounts).map(([column, amount]) => {
      const attribute = attributeOfColumn(model, column)
      const read = readAmount(amount, attribute)
      if (read === undefined) throw onRefusal(impossibleValue(amount, attribute))
      return [column, read]
    }),
  )
}

/** Undefined for an amount that cannot be added to a value of the column. The sum may be within its bounds though the amount is not. */
function readAmount(given: unknown, attribute: ColumnAttribute | undefined): unknown {
  if (attribute === undefined || given === null || given instanceof Utils.SequelizeMethod) return given
  const { kind } = columnShape({ type: attribute.type })
  const amount = typeof given === 'object' ? textOf(given) : given
  switch (kind) {
    case 'integer':
    case 'bigint':
      return readWhole(amount)
    case 'number':
    case 'decimal':
      return readNumber(amount)
    default:
      return given
  }
}

function readWhole(amount: unknown): number | bigint | undefined {
  if (typeof amount === 'bigint' || (typeof amount === 'number' && Number.isInteger(amount))) return amount
  const digits = typeof amount === 'string' ? wholeDigits(amount) : undefined
  return digits === undefined ? undefined : BigInt(digits)
}

function readNumber(amount: unknown): unknown {
  if (typeof amount === 'bigint') return amount
  if (typeof amount === 'string' && !isNumeric(amount)) return undefined
  return (typeof amount === 'string' || typeof amount === 'number') && Number.isFinite(Number(amount))
    ? amount
    : undefined
}
