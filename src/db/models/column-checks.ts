import { isRecord } from '../../core/records.js'
import type { ModelValidateOptions } from 'sequelize'
import type { Check } from '../../schema/shape/check.js'
import { listValues } from '../../schema/shape/issue.js'
import type { Shape } from '../../schema/shape/shape.js'
import { type Validator, validator } from '../sequelize/internals.js'

/** Rules that need more than the value: the instance, or null. */
const SEQUELIZE_ONLY: ReadonlySet<string> = new Set(['isImmutable', 'notNull', 'extend'])

/**
 * The built-in rules of a column's `validate` as checks of inputs, with the same result as Sequelize's validation when the row is saved.
 * Rules that are functions are checked only by Sequelize.
 */
export function checksOf(shape: Shape, rules: ModelValidateOptions): readonly Check[] {
  const toValue = STRING_OF[shape.kind]
  if (!toValue) return []
  const builtIn = Object.entries(rules).flatMap(([name, rule]: [string, unknown]): BuiltInRule[] => {
    const test = validator[name]
    if (typeof rule === 'function' || typeof test !== 'function' || SEQUELIZE_ONLY.has(name)) return []
    const args = argumentsOf(name, rule)
    return [{ name, passes: compileRule(name, test, args), message: messageOf(name, rule, args) }]
  })
  const length = builtIn.find(({ name }) => name === 'len')
  return builtIn.map((rule) => toCheck(rule, toValue, rule === length ? undefined : isTooLongFor(rules, length)))
}

interface BuiltInRule {
  readonly name: string
  readonly passes: (value: string) => boolean
  readonly message: string
}

function toCheck(
  { passes, message }: BuiltInRule,
  toValue: (json: unknown) => string | undefined,
  isTooLong: ((value: string) => boolean) | undefined,
): Check {
  const accepts: Check['accepts'] = (json) => {
    const value = toValue(json)
    return value === undefined || isTooLong?.(value) === true || passes(value)
  }
  return { accepts, message }
}

// Only the length of a string that is too long is reported.
function isTooLongFor(
  rules: ModelValidateOptions,
  length: BuiltInRule | undefined,
): ((value: string) => boolean) | undefined {
  const [, max] = length ? argumentsOf('len', rules.len) : []
  return typeof max === 'number' && length ? (value) => value.length > max && !length.passes(value) : undefined
}

/**
 * How many UTF-16 units of a string these rules may count as one. A longer string than this factor times the maximum fails without being
 * counted, which could be slow.
 */
const UNITS: Readonly<Partial<Record<string, number>>> = { len: 3, isLength: 3, isByteLength: 1 }

function compileRule(name: string, test: Validator[string], args: readonly unknown[]): BuiltInRule['passes'] {
  const passes = (value: string) => Boolean(test.call(validator, value, ...args))
  const [list, max] = args
  // validator.js converts the whole list to strings at each call: a set is made once instead.
  if (Array.isArray(list) && (name === 'isIn' || name === 'notIn')) return isAmong(list, name === 'isIn')
  const units = UNITS[name]
  return units !== undefined && typeof max === 'number'
    ? (value) => value.length <= units * max && passes(value)
    : passes
}

function isAmong(list: readonly unknown[], isIn: boolean): BuiltInRule['passes'] {
  const strings = new Set(list.map(toComparedString))
  return (value) => strings.has(value) === isIn
}

// As validator.js converts values before it compares them.
function toComparedString(value: unknown): string {
  return value === null || value === undefined || Number.isNaN(value) ? '' : String(value)
}

/**
 * From a JSON value to the string that Sequelize passes to a rule, by kind of shape. Undefined for a value of another type, which the shape
 * itself rejects, and for an unpaired surrogate, which is rejected everywhere and makes some rules throw.
 */
const STRING_OF: Readonly<Partial<Record<Shape['kind'], (json: unknown) => string | undefined>>> = {
  string: stringOf('string'),
  enum: stringOf('string'),
  decimal: stringOf('string'),
  bigint: stringOf('string'),
  date: stringOf('string'),
  integer: stringOf('number'),
  number: stringOf('number'),
  boolean: stringOf('boolean'),
  'date-time': (json) => {
    const date = new Date(typeof json === 'string' ? json : NaN)
    return Number.isNaN(date.getTime()) ? undefined : String(date)
  },
}

function stringOf(type: string) {
  return (json: unknown) => {
    const value = typeof json === type ? String(json) : undefined
    return value?.isWellFormed() ? value : undefined
  }
}

const LOCALIZED: ReadonlySet<string> = new Set(['isAlpha', 'isAlphanumeric', 'isMobilePhone'])
const WITH_OPTIONS: ReadonlySet<string> = new Set(['isUrl', 'isURL', 'isEmail'])

/** A rule of a column's `validate`: `ruleOf({ min: 3 }, 'min')` is 3. */
export function ruleOf(rules: ModelValidateOptions, name: string): unknown {
  return Reflect.get(rules, name)
}

/** The arguments of a rule, read as in Sequelize's lib/instance-validator.js. */
export function argumentsOf(name: string, rule: unknown): readonly unknown[] {
  const test = WITH_OPTIONS.has(name) ? withOptions(rule) : rule
  const args = (isRecord(test) ? test['args'] : undefined) || test
  if (Array.isArray(args)) return args
  return (LOCALIZED.has(name) && typeof args !== 'string') || name === 'isIP' ? [] : [args]
}

function withOptions(rule: unknown): unknown {
  if (rule === true) return {}
  return isRecord(rule) && rule['msg'] ? { msg: rule['msg'] } : rule
}

function messageOf(name: string, rule: unknown, args: readonly unknown[]): string {
  if (isRecord(rule) && typeof rule['msg'] === 'string') return rule['msg']
  return ruleMessage(name, args)
}

/** The message for a value that fails a rule without a message of its own. */
export function ruleMessage(name: string, args: readonly unknown[]): string {
  return MESSAGES[name]?.(args) ?? `must pass the rule ${name}`
}

const MESSAGES: Readonly<Record<string, (args: readonly unknown[]) => string>> = {
  len: ([min, max]) =>
    max === undefined
      ? `must have at least ${String(min)} characters`
      : `must have ${String(min)} to ${String(max)} characters`,
  min: ([min]) => `must be >= ${String(min)}`,
  max: ([max]) => `must be <= ${String(max)}`,
  isIn: ([values]) => `must be one of ${listValues([values].flat())}`,
  notIn: ([values]) => `must not be one of ${listValues([values].flat())}`,
  notEmpty: () => 'must not be empty',
  isEmail: () => 'must be an e-mail address',
  isUrl: () => 'must be a URL',
  isURL: () => 'must be a URL',
  isUUID: () => 'must be a UUID',
  isIP: () => 'must be an IP address',
  isIPv4: () => 'must be an IPv4 address',
  isIPv6: () => 'must be an IPv6 address',
  is: ([pattern]) => `must match ${String(pattern)}`,
  regex: ([pattern]) => `must match ${String(pattern)}`,
  not: ([pattern]) => `must not match ${String(pattern)}`,
  notRegex: ([pattern]) => `must not match ${String(pattern)}`,
  contains: ([part]) => `must contain ${JSON.stringify(part)}`,
  notContains: ([part]) => `must not contain ${JSON.stringify(part)}`,
}
