import type { ModelValidateOptions } from 'sequelize'
import type { NumberShape, Shape, StringShape } from '../schema/shape.js'

/**
 * A column's shape with what its `validate` says. Rules that JSON Schema cannot say exactly are left to the model,
 * which checks them when it is saved: functions, patterns with flags, `isUrl` (which takes addresses without a scheme).
 */
export function ruledShape(shape: Shape, rules: ModelValidateOptions | undefined): Shape {
  if (!rules) return shape
  switch (shape.kind) {
    case 'string':
      return oneOf(rules, 'string') ?? ruledString(shape, rules)
    case 'integer':
    case 'number':
      return oneOf(rules, 'number') ?? ruledNumber(shape, rules)
    default:
      return shape
  }
}

type Rules = Readonly<Record<string, unknown>>

/** The arguments of a rule: `len: [2, 10]`, `len: { args: [2, 10], msg: '...' }`, `min: 3`; undefined when it is not set. */
function argumentsOf(rules: ModelValidateOptions, name: keyof ModelValidateOptions): readonly unknown[] | undefined {
  const rule = (rules as Rules)[name]
  if (rule === undefined || rule === false) return undefined
  const isOption = typeof rule === 'object' && rule !== null && !Array.isArray(rule) && !(rule instanceof RegExp)
  const given = isOption ? ((rule as { args?: unknown }).args ?? true) : rule
  return Array.isArray(given) ? given : [given]
}

// isIn: [['a', 'b']], a list of one argument; some write isIn: ['a', 'b'], which Sequelize takes too.
function oneOf(rules: ModelValidateOptions, type: 'string' | 'number'): Shape | undefined {
  const [first, ...others] = argumentsOf(rules, 'isIn') ?? []
  const values: readonly unknown[] = Array.isArray(first) ? first : [first, ...others]
  return values.every((value) => typeof value === type) ? { kind: 'enum', values: values as string[] } : undefined
}

const FORMATS = { isEmail: 'email', isUUID: 'uuid', isIPv4: 'ipv4', isIPv6: 'ipv6' } as const

function ruledString(shape: StringShape, rules: ModelValidateOptions): StringShape {
  const [least, most] = argumentsOf(rules, 'len') ?? []
  const format = Object.entries(FORMATS).find(([name]) => argumentsOf(rules, name as keyof typeof FORMATS))?.[1]
  return {
    ...shape,
    ...greatest('minLength', argumentsOf(rules, 'notEmpty') ? 1 : undefined, least),
    ...smallest('maxLength', shape.maxLength, most),
    ...(format === undefined ? {} : { format }),
    ...patternOf(argumentsOf(rules, 'is') ?? argumentsOf(rules, 'regex' as never)),
  }
}

function ruledNumber(shape: NumberShape, rules: ModelValidateOptions): NumberShape {
  return {
    ...shape,
    ...greatest('minimum', shape.minimum, argumentsOf(rules, 'min')?.[0]),
    ...smallest('maximum', shape.maximum, argumentsOf(rules, 'max')?.[0]),
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
