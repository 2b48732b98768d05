import type { ModelValidateOptions } from 'sequelize'
import type { JsonSchema, NumberShape, Shape, StringShape } from '../../schema/shape/shape.js'
import { atLeastPattern, atMostPattern } from '../../schema/patterns/range-pattern.js'
import { caseInsensitive } from './case-insensitive-pattern.js'
import { argumentsOf, checksOf, ruleOf } from './column-checks.js'

/**
 * A column's shape with the rules of its `validate`. Inputs are checked by Sequelize's rules; the OpenAPI document has those that JSON Schema
 * can express. It can express neither functions nor `isUrl`, which also accepts addresses without a scheme.
 */
export function ruledShape(shape: Shape, rules: ModelValidateOptions | undefined): Shape {
  if (!rules) return shape
  const checks = checksOf(shape, rules)
  const { base, checks: typeChecks } = shape.customValidation ?? { base: shape, checks: [] }
  const not = exclusionOf(shape, rules)
  const allOf = isNumericString(shape) ? rangeOf(rules) : shape.kind === 'string' ? patternsOf(rules) : []
  const openApiExtra = { ...(not ? { not } : {}), ...(allOf.length > 0 ? { allOf } : {}) }
  return {
    ...documentedShape(shape, rules),
    ...(Object.keys(openApiExtra).length > 0 ? { openApiExtra } : {}),
    ...(checks.length > 0 ? { customValidation: { base, checks: [...typeChecks, ...checks] } } : {}),
  }
}

function documentedShape(shape: Shape, rules: ModelValidateOptions): Shape {
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

/** The arguments of a rule: `len: [2, 10]`, `len: { args: [2, 10], msg: '...' }`, `min: 3`; undefined if there is no such rule. */
function argumentsOfRule(rules: ModelValidateOptions, name: string): readonly unknown[] | undefined {
  const given = ruleOf(rules, name)
  return given === undefined || given === false || typeof given === 'function' ? undefined : argumentsOf(name, given)
}

function oneOf(rules: ModelValidateOptions, type: typeof String | typeof Number): Shape | undefined {
  const values = valuesOf(rules, 'isIn', type)
  return values && { kind: 'enum', values }
}

// isIn: [['a', 'b']] has one argument, the list. Sequelize compares its values as strings.
function valuesOf(
  rules: ModelValidateOptions,
  name: 'isIn' | 'notIn',
  type: typeof String | typeof Number,
): readonly (string | number)[] | undefined {
  const [list] = argumentsOfRule(rules, name) ?? []
  // Sequelize compares null as '', which JSON Schema cannot express.
  if (!Array.isArray(list) || list.includes(null) || list.includes(undefined)) return undefined
  const values = list.map((value: unknown) => type(value))
  return values.every((value, index) => String(value) === String(list[index])) ? [...new Set(values)] : undefined
}

function exclusionOf({ kind }: Shape, rules: ModelValidateOptions): JsonSchema | undefined {
  const isNumber = kind === 'integer' || kind === 'number'
  const values = valuesOf(rules, 'notIn', isNumber ? Number : String)
  if (values) return { enum: values }
  const { pattern } = patternOf(argumentsOfRule(rules, 'not') ?? argumentsOfRule(rules, 'notRegex'))
  return pattern === undefined || isNumber ? undefined : { type: 'string', pattern }
}

function isNumericString({ kind }: Shape): boolean {
  return kind === 'bigint' || kind === 'decimal'
}

function rangeOf(rules: ModelValidateOptions): readonly JsonSchema[] {
  const boundOf = (name: 'min' | 'max') => String(argumentsOfRule(rules, name)?.[0] ?? '')
  return [atLeastPattern(boundOf('min')), atMostPattern(boundOf('max'))].flatMap((pattern) =>
    pattern === undefined ? [] : { pattern },
  )
}

const SPECIAL_CHARACTERS = /[\\^$.*+?()[\]{}|]/g

/** The pattern of a rule for strings, from its first argument. */
const PATTERNS: Readonly<Record<string, (argument: unknown) => string | undefined>> = {
  notEmpty: () => '\\S',
  isAlpha: withoutLocale('^[A-Za-z]+$'),
  isAlphanumeric: withoutLocale('^[0-9A-Za-z]+$'),
  isNumeric: withoutLocale('^[+-]?([0-9]*[.])?[0-9]+$'),
  isInt: withoutLocale('^[+-]?[0-9]+$'),
  isDecimal: withoutLocale('^[+-]?([0-9]+(\\.[0-9]+)?|\\.[0-9]+)$'),
  contains: (part) => (typeof part === 'string' ? part.replaceAll(SPECIAL_CHARACTERS, '\\$&') : undefined),
  equals: (whole) => (typeof whole === 'string' ? `^${whole.replaceAll(SPECIAL_CHARACTERS, '\\$&')}$` : undefined),
}

// Only without a locale or options; a rule with them is not in the OpenAPI document.
function withoutLocale(pattern: string) {
  return (argument: unknown) => (argument === undefined || argument === true ? pattern : undefined)
}

function patternsOf(rules: ModelValidateOptions): readonly JsonSchema[] {
  const patterns = Object.entries(PATTERNS).flatMap(([name, patternOf]) => {
    const given = argumentsOfRule(rules, name)
    const pattern = given && patternOf(given[0])
    return pattern === undefined ? [] : { pattern }
  })
  const [part] = argumentsOfRule(rules, 'notContains') ?? []
  const absent = typeof part === 'string' && part !== '' ? part.replaceAll(SPECIAL_CHARACTERS, '\\$&') : undefined
  return absent === undefined ? patterns : [...patterns, { not: { type: 'string', pattern: absent } }]
}

const FORMATS = { isEmail: 'email', isUUID: 'uuid', isIPv4: 'ipv4', isIPv6: 'ipv6' } as const

function ruledString(shape: StringShape, rules: ModelValidateOptions): StringShape {
  const [min, max] = argumentsOfRule(rules, 'len') ?? []
  const format = Object.entries(FORMATS).find(([name]) => argumentsOfRule(rules, name))?.[1]
  return {
    ...shape,
    ...greatest('minLength', argumentsOfRule(rules, 'notEmpty') ? 1 : undefined, min),
    ...smallest('maxLength', shape.maxLength, max),
    ...(format === undefined ? {} : { format }),
    ...patternOf(argumentsOfRule(rules, 'is') ?? argumentsOfRule(rules, 'regex')),
  }
}

function ruledNumber(shape: NumberShape, rules: ModelValidateOptions): NumberShape {
  return {
    ...shape,
    ...greatest('minimum', shape.minimum, argumentsOfRule(rules, 'min')?.[0]),
    ...smallest('maximum', shape.maximum, argumentsOfRule(rules, 'max')?.[0]),
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

// is: /^[a-z]+$/, or is: ['^[a-z]+$', 'i'] with flags.
function patternOf([pattern, flags = '']: readonly unknown[] = []): { pattern?: string } {
  const { source, flags: own } = pattern instanceof RegExp ? pattern : { source: pattern, flags }
  if (typeof source !== 'string') return {}
  const plain = own === '' ? source : own === 'i' ? caseInsensitive(source) : undefined
  return plain !== undefined && isUnicodePattern(plain) ? { pattern: plain } : {}
}

// JSON Schema reads a pattern with the flag 'u', with which fewer patterns are valid.
function isUnicodePattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp
  } catch {
    return false
  }
}
