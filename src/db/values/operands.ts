import { Op, type Sequelize, Utils } from 'sequelize'
import { ImpossibleValueError } from '../errors.js'
import { dataTypeInternals, queryGeneratorOf } from '../sequelize/internals.js'
import { isJsonColumn, isJsonValue, isScalarColumn } from './scalars.js'
import { textOf } from './value-readers.js'
import type { AttributeInternals } from '../sequelize/query-generator.js'

/**
 * Makes the operators of conditions refuse an operand that their SQL cannot have, as a client may send it: a string for `Op.in`, an object for
 * `Op.startsWith`. Sequelize throws errors of its own for some, searches for '[object Object]', or sends SQL that some databases refuse.
 */
export function checkOperands(sequelize: Sequelize, onRefusal: (error: ImpossibleValueError) => unknown): void {
  const generator = queryGeneratorOf(sequelize)
  const compare = generator._whereParseSingleValueObject
  generator._whereParseSingleValueObject = (key, field, operator, value, options) => {
    const fault = value instanceof Utils.SequelizeMethod ? undefined : faultOf(operator, value, field)
    if (fault !== undefined) throw onRefusal(impossibleOperand(field, operator, fault))
    const isText = PATTERNS.has(operator) && isNumber(value) // PostgreSQL compares no text with a number
    return compare.call(generator, key, field, operator, isText ? String(value) : value, options)
  }
  const write = generator.whereItemQuery
  generator.whereItemQuery = (key, value, options) => {
    if (key !== undefined && key !== Op.or && key !== Op.and && key !== Op.not && hasNoConditions(value))
      throw onRefusal(impossibleOperand(undefined, Op.or, 'takes a list or an object'))
    return write.call(generator, key, value, options)
  }
}

const LISTS: ReadonlySet<unknown> = new Set([Op.in, Op.notIn])
const PAIRS: ReadonlySet<unknown> = new Set([Op.between, Op.notBetween])
const QUANTIFIERS = [Op.any, Op.all] as const
const AFFIXES: ReadonlySet<unknown> = new Set([Op.startsWith, Op.endsWith, Op.substring])
const PATTERNS: ReadonlySet<unknown> = new Set([
  Op.like,
  Op.notLike,
  Op.iLike,
  Op.notILike,
  Op.regexp,
  Op.notRegexp,
  Op.iRegexp,
  Op.notIRegexp,
])
// Sequelize passes the SQL `=` for a value without an operator.
const COMPARISONS: ReadonlySet<unknown> = new Set([Op.eq, Op.ne, Op.gt, Op.gte, Op.lt, Op.lte, Op.not, '='])

/** Whether the operator compares with a pattern, or with a text that becomes one. */
export function isOfPattern(operator: unknown): boolean {
  return PATTERNS.has(operator) || AFFIXES.has(operator)
}

function faultOf(operator: unknown, value: unknown, field: AttributeInternals | undefined): string | undefined {
  const isIs = operator === Op.is || operator === Op.not // with a boolean, Op.not becomes `IS NOT`
  if (isIs && typeof value === 'boolean' && isJsonColumn(field)) return 'takes null where a JSON column is compared'
  if (LISTS.has(operator) || (operator === Op.not && Array.isArray(value))) return faultOfList(value, field)
  if (PAIRS.has(operator)) return faultOfPair(value, field)
  if (operator === Op.any || operator === Op.all) return faultOfQuantified(value)
  if (AFFIXES.has(operator)) return isText(value) ? undefined : 'takes a string'
  if (PATTERNS.has(operator)) return faultOfPattern(value)
  if (operator === Op.is) return isLiteral(value) ? undefined : 'takes null, true or false'
  if (COMPARISONS.has(operator)) return faultOfComparison(value, field)
  return operator === Op.or || operator === Op.and ? 'takes a list or an object' : undefined
}

function faultOfList(value: unknown, field: AttributeInternals | undefined): string | undefined {
  if (!Array.isArray(value)) return 'takes a list'
  const isNested = (field === undefined || isScalarColumn(field)) && value.some(isJsonValue)
  return isNested ? 'takes a list without lists and objects' : undefined
}

function faultOfPair(value: unknown, field: AttributeInternals | undefined): string | undefined {
  return Array.isArray(value) && value.length > 1 ? faultOfList(value, field) : 'takes a list of two values'
}

function faultOfQuantified(value: unknown): string | undefined {
  const isValues = typeof value === 'object' && value !== null && Object.hasOwn(value, Op.values)
  return Array.isArray(value) || isValues ? undefined : 'takes a list'
}

function faultOfPattern(value: unknown): string | undefined {
  const isOther = value === null || value === undefined || Buffer.isBuffer(value)
  if (isOther || typeof value === 'string' || isNumber(value)) return undefined
  return faultOfOperators(value) ?? (hasOperators(value) ? undefined : 'takes a string')
}

function faultOfComparison(value: unknown, field: AttributeInternals | undefined): string | undefined {
  if (hasOperators(value)) return faultOfOperators(value)
  const isOfScalar = isScalarColumn(field)
  const isImpossible = Array.isArray(value) ? isOfScalar : (field === undefined || isOfScalar) && isJsonValue(value)
  return isImpossible ? 'takes a single value' : undefined
}

/** Of `{ [Op.any]: [...] }`. */
function faultOfOperators(value: unknown): string | undefined {
  if (!hasOperators(value)) return undefined
  for (const quantifier of QUANTIFIERS) {
    const list: unknown = Reflect.get(value, quantifier)
    if (list && !(list instanceof Utils.SequelizeMethod)) return faultOfQuantified(list)
  }
  return undefined
}

function hasOperators(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getOwnPropertySymbols(value).length > 0
}

/** Whether Sequelize can write it into a pattern: a string, a number, or an object of a library that has a text. */
function isText(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' || isNumber(value)
  return !isJsonValue(value) && !textOf(value).startsWith('[object ')
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint'
}

function isLiteral(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'boolean' || hasOperators(value)
}

/** Whether it is `{ [Op.or]: value }`, or of Op.and, with a single value. */
function hasNoConditions(value: unknown): boolean {
  if (!hasOperators(value)) return false
  return [Op.or, Op.and].some((operator) => {
    const conditions: unknown = Reflect.get(value, operator)
    return Boolean(conditions) && typeof conditions !== 'object'
  })
}

function impossibleOperand(
  field: AttributeInternals | undefined,
  operator: unknown,
  fault: string,
): ImpossibleValueError {
  const { fieldName, type } = field ?? {}
  const name = typeof operator === 'symbol' ? `Op.${operator.description}` : 'Op.eq'
  const column = fieldName === undefined ? '' : ` The type of ${fieldName} is ${dataTypeInternals(type).key}.`
  return new ImpossibleValueError(`${name} in a condition ${fault}.${column}`, fieldName)
}
