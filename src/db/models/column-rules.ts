import type { ModelValidateOptions } from 'sequelize'
import type { JsonSchema, NumberShape, Shape, StringShape } from '../../schema/shape/shape.js'
import { atLeastPattern, atMostPattern } from '../../schema/patterns/range-pattern.js'
import { caseInsensitive } from './case-insensitive-pattern.js'
import { argumentsOf, checksOf } from './column-checks.js'

/**
 * A column's shape with what its `validate` says: inputs are checked by Sequelize's own rules, and the document tells of those
 * that JSON Schema can say. It cannot say functions, nor `isUrl` (which takes addresses without a scheme).
 */
export function ruledShape(shape: Shape, rules: ModelValidateOptions | undefined): Shape {
  if (!rules) return shape
  const checks = checksOf(shape, rules)
  const { base, checks: own } = shape.customValidation ?? { base: shape, checks: [] }
  const not = exclusionOf(shape, rules)
  const allOf = isTextual(shape) ? rangeOf(rules) : shape.kind === 'string' ? patternsOf(rules) : []
  const openApiExtra = { ...(not ? { not } : {}), ...(allOf.length > 0 ? { allOf } : {}) }
  return {
    ...toldShape(shape, rules),
    ...(Object.keys(openApiExtra).length > 0 ? { openApiExtra } : {}),
    ...(checks.length > 0 ? { customValidation: { base, checks: [...own, ...checks] } } : {}),
  }
}

function toldShape(shape: Shape, rules: ModelValidateOptions): Shape {
  switch (shape.kind) {
    case 'string':
      return oneOf(rules, String) ?? ruledString(shape, rules)
    case 'integer':
    case 'number':
      return oneOf(rules, Number) ?? ruledNumber(shape, rules)
    case 'bigint':
    case 'decimal': {
      const values = valuesOf(rules, 'isIn', String)
      return values ? { ...shape, openApiSchema: { type: 'string', enum: values } } : shape
    }
    default:
      return shape
  }
}

type Rules = Readonly<Record<string, unknown>>

/** The arguments of a rule: `len: [2, 10]`, `len: { args: [2, 10], msg: '...' }`, `min: 3`; undefined when it is not set. */
function rule(rules: ModelValidateOptions, name: string): readonly unknown[] | undefined {
  const given = (rules as Rules)[name]
  return given === undefined || given === false || typeof given === 'function' ? undefined : argumentsOf(name, given)
}

function oneOf(rules: ModelValidateOptions, type: typeof String | typeof Number): Shape | undefined {
  const values = valuesOf(rules, 'isIn', type)
  return values && { kind: 'enum', values }
}

// isIn: [['a', 'b']], a list of one argument, of which Sequelize compares the texts.
function valuesOf(
  rules: ModelValidateOptions,
  name: 'isIn' | 'notIn',
  type: typeof String | typeof Number,
): readonly (string | number)[] | undefined {
  const [list] = rule(rules, name) ?? []
  // Of null the text is '' to Sequelize.
  if (!Array.isArray(list) || list.includes(null) || list.includes(undefined)) return undefined
  const values = list.map((value: unknown) => type(value))
  return values.every((value, index) => String(value) === String(list[index])) ? [...new Set(values)] : undefined
}

function exclusionOf({ kind }: Shape, rules: ModelValidateOptions): JsonSchema | undefined {
  const isNumber = kind === 'integer' || kind === 'number'
  const values = valuesOf(rules, 'notIn', isNumber ? Number : String)
  if (values) return { enum: values }
  const { pattern } = patternOf(rule(rules, 'not') ?? rule(rules, 'notRegex'))
  return pattern === undefined || isNumber ? undefined : { type: 'string', pattern }
}

function isTextual({ kind }: Shape): boolean {
  return kind === 'bigint' || kind === 'decimal'
}

function rangeOf(rules: ModelValidateOptions): readonly JsonSchema[] {
  const [least, most] = [rule(rules, 'min')?.[0], rule(rules, 'max')?.[0]].map((bound) =>
    bound === undefined ? '' : String(bound),
  )
  return [atLeastPattern(least as string), atMostPattern(most as string)].flatMap((pattern) =>
    pattern === undefined ? [] : { pattern },
  )
}

const ESCAPED = /[\\^$.*+?()[\]{}|]/g

/** The pattern of a rule about texts, by its arguments. */
const PATTERNS: Readonly<Record<string, (argument: unknown) => string | undefined>> = {
  notEmpty: () => '\\S',
  isAlpha: inEnglish('^[A-Za-z]+$'),
  isAlphanumeric: inEnglish('^[0-9A-Za-z]+$'),
  isNumeric: inEnglish('^[+-]?([0-9]*[.])?[0-9]+$'),
  isInt: inEnglish('^[+-]?[0-9]+$'),
  isDecimal: inEnglish('^[+-]?([0-9]+(\\.[0-9]+)?|\\.[0-9]+)$'),
  contains: (part) => (typeof part === 'string' ? part.replaceAll(ESCAPED, '\\$&') : undefined),
  equals: (whole) => (typeof whole === 'string' ? `^${whole.replaceAll(ESCAPED, '\\$&')}$` : undefined),
}

// Without a locale or options: what those say is left to the check itself.
function inEnglish(pattern: string) {
  return (argument: unknown) => (argument === undefined || argument === true ? pattern : undefined)
}

function patternsOf(rules: ModelValidateOptions): readonly JsonSchema[] {
  const patterns = Object.entries(PATTERNS).flatMap(([name, patternOf]) => {
    const given = rule(rules, name)
    const pattern = given && patternOf(given[0])
    return pattern === undefined ? [] : { pattern }
  })
  const [part] = rule(rules, 'notContains') ?? []
  const absent = typeof part === 'string' && part !== '' ? part.replaceAll(ESCAPED, '\\$&') : undefined
  return absent === undefined ? patterns : [...patterns, { not: { type: 'string', pattern: absent } }]
}

const FORMATS = { isEmail: 'email', isUUID: 'uuid', isIPv4: 'ipv4', isIPv6: 'ipv6' } as const

function ruledString(shape: StringShape, rules: ModelValidateOptions): StringShape {
  const [least, most] = rule(rules, 'len') ?? []
  const format = Object.entries(FORMATS).find(([name]) => rule(rules, name))?.[1]
  return {
    ...shape,
    ...greatest('minLength', rule(rules, 'notEmpty') ? 1 : undefined, least),
    ...smallest('maxLength', shape.maxLength, most),
    ...(format === undefined ? {} : { format }),
    ...patternOf(rule(rules, 'is') ?? rule(rules, 'regex')),
  }
}

function ruledNumber(shape: NumberShape, rules: ModelValidateOptions): NumberShape {
  return {
    ...shape,
    ...greatest('minimum', shape.minimum, rule(rules, 'min')?.[0]),
    ...smallest('maximum', shape.maximum, rule(rules, 'max')?.[0]),
  }
}

function greatest(name: string, ...bounds: readonly unknown[]): Readonly<Record<string, number>> {
  const numbers = bounds.filter((bound) => typeof bound === 'number')
  return numbers.length > 0 ? { [name]: Math.max(...numbers) } : {}
}

function smallest(name: string, ...bounds: readonly unknown[]): Readonly<Record<string, number>> {
  const numbers = bounds.filter((bound) => typeof bound === 'number')
  return numbers.length > 0 ? { [name]: Math.min(...numbers) } : {}
}

// is: /^[a-z]+$/, or is: ['^[a-z]+$', 'i'], whose second argument are flags.
function patternOf([pattern, flags = '']: readonly unknown[] = []): { pattern?: string } {
  const { source, flags: own } = pattern instanceof RegExp ? pattern : { source: pattern, flags }
  if (typeof source !== 'string') return {}
  const plain = own === '' ? source : own === 'i' ? caseInsensitive(source) : undefined
  return plain !== undefined && isUnicodePattern(plain) ? { pattern: plain } : {}
}

// JSON Schema reads a pattern with the flag 'u', which takes fewer than none does.
function isUnicodePattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp
  } catch {
    return false
  }
}
