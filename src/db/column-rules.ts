import type { ModelValidateOptions } from 'sequelize'
import type { JsonSchema, NumberShape, Shape, StringShape } from '../schema/shape.js'
import { atLeastPattern, atMostPattern } from '../schema/range-pattern.js'
import { argumentsOf, checksOf } from './column-checks.js'

/**
 * A column's shape with what its `validate` says: inputs are checked by Sequelize's own rules, and the document tells of those
 * that JSON Schema can say. It cannot say functions, patterns with flags, `isUrl` (which takes addresses without a scheme).
 */
export function ruledShape(shape: Shape, rules: ModelValidateOptions | undefined): Shape {
  if (!rules) return shape
  const checks = checksOf(shape, rules)
  const { base, checks: own } = shape.ruled ?? { base: shape, checks: [] }
  const not = exclusionOf(shape, rules)
  const allOf = isTextual(shape) ? rangeOf(rules) : []
  const more = { ...(not ? { not } : {}), ...(allOf.length > 0 ? { allOf } : {}) }
  return {
    ...toldShape(shape, rules),
    ...(Object.keys(more).length > 0 ? { more } : {}),
    ...(checks.length > 0 ? { ruled: { base, checks: [...own, ...checks] } } : {}),
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
      return values ? { ...shape, documented: { type: 'string', enum: values } } : shape
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
  return typeof source === 'string' && own === '' && isUnicodePattern(source) ? { pattern: source } : {}
}

// JSON Schema reads a pattern with the flag 'u', which takes fewer than none does.
function isUnicodePattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp
  } catch {
    return false
  }
}
