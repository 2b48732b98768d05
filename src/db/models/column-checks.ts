import type { ModelValidateOptions } from 'sequelize'
import type { Check } from '../../schema/shape/check.js'
import type { Shape } from '../../schema/shape/shape.js'
import { type Validator, validator } from '../sequelize/internals.js'

/** Rules that look at more than the value: at the row, or at null. */
const LEFT: ReadonlySet<string> = new Set(['isImmutable', 'notNull', 'extend'])

/**
 * The built-in rules of a column's `validate`, as Sequelize itself will ask them when the row is saved. Functions of the program are left to
 * that moment.
 */
export function checksOf(shape: Shape, rules: ModelValidateOptions): readonly Check[] {
  const toValue = VALUES[shape.kind]
  if (!toValue) return []
  const builtIn = Object.entries(rules).flatMap(([name, rule]: [string, unknown]): BuiltInRule[] => {
    const test = validator[name]
    if (typeof rule === 'function' || typeof test !== 'function' || LEFT.has(name)) return []
    const args = argumentsOf(name, rule)
    return [{ name, passes: passing(name, test, args), message: messageOf(name, rule, args) }]
  })
  const length = builtIn.find(({ name }) => name === 'len')
  return builtIn.map((rule) => toCheck(rule, toValue, rule === length ? undefined : tooLong(rules, length)))
}

interface BuiltInRule {
  readonly name: string
  readonly passes: (text: string) => boolean
  readonly message: string
}

function toCheck(
  { passes, message }: BuiltInRule,
  toValue: (json: unknown) => string | undefined,
  isTooLong: ((text: string) => boolean) | undefined,
): Check {
  const accepts: Check['accepts'] = (json) => {
    const value = toValue(json)
    return value === undefined || isTooLong?.(value) === true || passes(value)
  }
  return { accepts, message }
}

// For a text that is too long only its length is reported.
function tooLong(
  rules: ModelValidateOptions,
  length: BuiltInRule | undefined,
): ((text: string) => boolean) | undefined {
  const [, most] = length ? argumentsOf('len', rules.len) : []
  return typeof most === 'number' && length ? (text) => text.length > most && !length.passes(text) : undefined
}

/** How many units of a text these rules may count as one: what is longer than so many times their bound need not be counted. */
const UNITS: Readonly<Partial<Record<string, number>>> = { len: 3, isLength: 3, isByteLength: 1 }

function passing(name: string, test: Validator[string], args: readonly unknown[]): BuiltInRule['passes'] {
  const passes = (text: string) => Boolean(test.call(validator, text, ...args))
  const [list, most] = args
  // Sequelize's makes a list of texts of all values, and looks for one in it, each time.
  if (Array.isArray(list) && (name === 'isIn' || name === 'notIn')) return among(list, name === 'isIn')
  const units = UNITS[name]
  return units !== undefined && typeof most === 'number'
    ? (text) => text.length <= units * most && passes(text)
    : passes
}

function among(list: readonly unknown[], isIn: boolean): BuiltInRule['passes'] {
  const texts = new Set(list.map(comparedText))
  return (text) => texts.has(text) === isIn
}

// As validator.js writes a value before it compares it.
function comparedText(value: unknown): string {
  return value === null || value === undefined || Number.isNaN(value) ? '' : String(value)
}

/**
 * The text that Sequelize asks about, of JSON of the shape; undefined for JSON that is not of the shape, of which the shape tells, and for
 * half of a surrogate pair, which is refused everywhere and makes some rules throw.
 */
const VALUES: Readonly<Partial<Record<Shape['kind'], (json: unknown) => string | undefined>>> = {
  string: textOf('string'),
  enum: textOf('string'),
  decimal: textOf('string'),
  bigint: textOf('string'),
  date: textOf('string'),
  integer: textOf('number'),
  number: textOf('number'),
  boolean: textOf('boolean'),
  'date-time': (json) => {
    const date = new Date(typeof json === 'string' ? json : NaN)
    return Number.isNaN(date.getTime()) ? undefined : String(date)
  },
}

function textOf(type: string) {
  return (json: unknown) => {
    const text = typeof json === type ? String(json) : undefined
    return text?.isWellFormed() ? text : undefined
  }
}

const LOCALIZED: ReadonlySet<string> = new Set(['isAlpha', 'isAlphanumeric', 'isMobilePhone'])
const WITH_OPTIONS: ReadonlySet<string> = new Set(['isUrl', 'isURL', 'isEmail'])

/** The arguments of a rule, after Sequelize's lib/instance-validator.js. */
export function argumentsOf(name: string, rule: unknown): readonly unknown[] {
  const test = WITH_OPTIONS.has(name) ? withOptions(rule) : rule
  const args = (isObject(test) ? test['args'] : undefined) || test
  if (Array.isArray(args)) return args
  return (LOCALIZED.has(name) && typeof args !== 'string') || name === 'isIP' ? [] : [args]
}

function withOptions(rule: unknown): unknown {
  if (rule === true) return {}
  return isObject(rule) && rule['msg'] ? { msg: rule['msg'] } : rule
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function messageOf(name: string, rule: unknown, args: readonly unknown[]): string {
  if (isObject(rule) && typeof rule['msg'] === 'string') return rule['msg']
  return ruleMessage(name, args)
}

/** What is wrong with a value that does not pass a rule which says nothing itself. */
export function ruleMessage(name: string, args: readonly unknown[]): string {
  return MESSAGES[name]?.(args) ?? `must pass the rule ${name}`
}

const MESSAGES: Readonly<Record<string, (args: readonly unknown[]) => string>> = {
  len: ([least, most]) =>
    most === undefined
      ? `must have at least ${String(least)} characters`
      : `must have ${String(least)} to ${String(most)} characters`,
  min: ([least]) => `must be >= ${String(least)}`,
  max: ([most]) => `must be <= ${String(most)}`,
  isIn: ([values]) => `must be one of ${listed(values)}`,
  notIn: ([values]) => `must not be one of ${listed(values)}`,
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

function listed(values: unknown): string {
  return [values]
    .flat()
    .map((value) => JSON.stringify(value))
    .join(', ')
}
