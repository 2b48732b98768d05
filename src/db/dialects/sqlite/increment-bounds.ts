import { literal, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { bigintBounds, columnShape, MAX_REAL } from '../../models/column-shape.js'
import { attributeOfColumn, replaceIncrements } from '../../values/increments.js'
import { dataTypeInternals, queryGeneratorOf } from '../../sequelize/internals.js'

/**
 * Makes the statements of `increment()` and `decrement()` fail if a result is out of the bounds of its column. Only the database knows the
 * result, and SQLite would store it.
 */
export function enforceIncrementBounds(sequelize: Sequelize): void {
  const generator = queryGeneratorOf(sequelize)
  replaceIncrements(sequelize, (send, operator) => async (model, table, where, amounts, otherValues, options) => {
    const checked = Object.entries(amounts).map(([column, amount]) => {
      const bounds = boundsOf(model, column)
      if (!bounds) return [column, amount]
      const added = `(${generator.escape(amount)})`
      const isOutside = bounds.outside(`${generator.quoteIdentifier(column)} ${operator} ${added}`)
      return [column, literal(`CASE WHEN ${isOutside} THEN ${FAILURE} ELSE ${added} END`)]
    })
    const increment: Increment = { incremented: Object.keys(amounts) }
    return send(model, table, where, Object.fromEntries(checked), otherValues, { ...options, ...increment })
  })
}

// No row can hold it: SQLITE_TOOBIG. Only triggers can raise an error of their own.
const FAILURE = 'zeroblob(2147483648)'

/** Options of a query: the columns that it increments. */
export interface Increment {
  readonly model?: ModelStatic<Model>
  readonly incremented?: readonly string[]
}

/** The error of an increment whose result is out of bounds, with PostgreSQL's code; any other error is returned as it is. */
export function incrementError(error: Error & { readonly code?: unknown }, { model, incremented }: Increment): Error {
  if (error.code !== 'SQLITE_TOOBIG' || !model || !incremented) return error
  const bounds = incremented.flatMap((column) => boundsOf(model, column)?.text ?? [])
  const message = `The result of an increment is out of the bounds of its column: ${bounds.join('; ')}.`
  return Object.assign(new Error(message, { cause: error }), error, { code: '22003' })
}

interface Bounds {
  /** SQL that is true for a result that the column cannot hold. */
  readonly outside: (result: string) => string
  /** For the log: 'Hero.age must be >= -32768 and <= 32767'. */
  readonly text: string
}

function boundsOf(model: ModelStatic<Model>, column: string): Bounds | undefined {
  const attribute = attributeOfColumn(model, column)
  if (!attribute) return undefined
  const name = `${model.name}.${attribute.fieldName ?? column}`
  const within = (min: number | bigint, max: number | bigint): Bounds => ({
    outside: (result) => `${result} NOT BETWEEN ${min} AND ${max}`,
    text: `${name} must be >= ${min} and <= ${max}`,
  })
  const shape = columnShape({ type: attribute.type })
  switch (shape.kind) {
    case 'integer':
      return within(shape.minimum ?? -Infinity, shape.maximum ?? Infinity) // an integer of a column has both
    case 'bigint': {
      const [min, max] = bigintBounds(attribute.type)
      // Beyond 64 bits SQLite continues with floating point numbers, which are rounded, also to the bound itself.
      return {
        ...within(min, max),
        outside: (result) => `typeof(${result}) = 'real'${min === 0n ? ` OR ${result} < 0` : ''}`,
      }
    }
    case 'number': {
      const max = dataTypeInternals(attribute.type).key === 'REAL' ? MAX_REAL : Number.MAX_VALUE
      return within(-max, max)
    }
    case 'decimal': {
      const { digits } = shape
      if (!digits) return undefined
      return {
        outside: (result) => `abs(round(${result}, ${digits.fraction})) >= ${10 ** digits.whole}`,
        text: `${name} must have at most ${digits.whole} digits before the point`,
      }
    }
    default:
      return undefined
  }
}
