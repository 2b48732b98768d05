import { BootError } from '../../core/boot-error.js'
import { count, fitting, flag, requireArray } from '../../core/option-checks.js'
import { meant, shown } from '../../core/options.js'
import { exampleOf } from './default-value.js'
import { longestOfFormat, stringFormats } from '../shape/formats.js'
import { refuseCostlyPattern } from '../patterns/pattern-cost.js'
import type { Shape } from '../shape/shape.js'
import type { ValueOptions } from './value-options.js'

const STRING = ['minLength', 'maxLength', 'format', 'pattern'] as const
const NUMBER = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const
const ARRAY = ['minItems', 'maxItems'] as const

const FLAGS = ['nullable', 'optional', 'deprecated'] as const
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems'] as const

const number = fitting(Number.isFinite, 'a number, or leave it out for no bound')
const expression = fitting(
  (pattern) => typeof pattern === 'string' || pattern instanceof RegExp,
  'a regular expression, as in /^[a-z]+$/',
)

/** Options that are copied to a shape of any type. */
const ANNOTATIONS: ReadonlySet<string> = new Set(['title', 'description', 'deprecated', 'nullable'])
const CONSTRAINTS: ReadonlySet<string> = new Set([...STRING, ...NUMBER, ...ARRAY])

/** The shape with its constraints and annotations. @throws BootError for options that do not apply to its type, or that no value can meet. */
export function withConstraints(shape: Shape, options: ValueOptions, where: string): Shape {
  for (const name of FLAGS) if (options[name] !== undefined) flag(options[name], `${where}: ${name}`)
  const given = givenOptions(shape, options, where)
  if (!given) return shape
  const { pattern, format } = given
  requireCounts(given, where)
  requireNumbers(given, where)
  refuseCrossedBounds(given, where)
  if (format !== undefined) refuseUnknownFormat(format, where)
  const maxLength = smallestOf(given.maxLength, format && longestOfFormat(format))
  const constrained = { ...shape, ...given, ...(maxLength === undefined ? undefined : { maxLength }) }
  if (pattern !== undefined) constrained.pattern = sourceOfCheapPattern(pattern, maxLength, where)
  return constrained as Shape // every copied option is one of this kind of shape: see givenOptions()
}

/** The constraints and annotations among the options; undefined if there are none. */
function givenOptions(shape: Shape, options: ValueOptions, where: string): ValueOptions | undefined {
  let given: Record<string, unknown> | undefined
  let others: string[] | undefined
  for (const name of Object.keys(options)) {
    const value = options[name as keyof ValueOptions] // a name of an unknown option is neither of the two
    const isConstraint = CONSTRAINTS.has(name)
    if (value === undefined || !(isConstraint || ANNOTATIONS.has(name))) continue
    if (isConstraint && !constraintsOf(shape).includes(name)) (others ??= []).push(name)
    else (given ??= {})[name] = value
  }
  if (!others) return given
  const inOrder = [...CONSTRAINTS].filter((name) => others.includes(name))
  throw new BootError(
    `${where}: ${inOrder.join(', ')} does not apply to a value of type '${shape.kind}'. Remove it, or write another type.`,
  )
}

const NONE: readonly string[] = []

function constraintsOf({ kind }: Shape): readonly string[] {
  switch (kind) {
    case 'string':
      return STRING
    case 'integer':
    case 'number':
      return NUMBER
    case 'array':
      return ARRAY
    default:
      return NONE
  }
}

/** The shape with its examples, as the OpenAPI document shows them. */
export function withExamples(shape: Shape, { example, examples }: ValueOptions, where: string): Shape {
  requireArray(examples, `${where}: examples`, 'first, second')
  const given = example === undefined ? examples : [example]
  return given ? { ...shape, examples: given.map((one) => exampleOf(shape, one, where)) } : shape
}

function requireCounts(options: ValueOptions, where: string): void {
  for (const name of COUNTS) if (options[name] !== undefined) count(options[name], `${where}: ${name}`)
}

function requireNumbers(options: ValueOptions, where: string): void {
  for (const name of NUMBER) if (options[name] !== undefined) number(options[name], `${where}: ${name}`)
  if (options.multipleOf !== undefined && options.multipleOf <= 0)
    throw new BootError(`${where}: multipleOf is ${options.multipleOf}. Write a number above 0.`)
}

/** A lower bound, an upper bound, and whether the two may be equal. */
const BOUNDS = [
  ['minLength', 'maxLength', true],
  ['minItems', 'maxItems', true],
  ['minimum', 'maximum', true],
  ['minimum', 'exclusiveMaximum', false],
  ['exclusiveMinimum', 'maximum', false],
  ['exclusiveMinimum', 'exclusiveMaximum', false],
] as const

function refuseCrossedBounds(options: ValueOptions, where: string): void {
  for (const [lower, upper, equal] of BOUNDS) {
    const least = options[lower]
    const most = options[upper]
    if (least === undefined || most === undefined || least < most || (equal && least === most)) continue
    throw new BootError(
      `${where}: no value can meet both ${lower} ${least} and ${upper} ${most}. If they are exchanged, write the smaller one as ${lower}.`,
    )
  }
}

function refuseUnknownFormat(format: string, where: string): void {
  if (!stringFormats.includes(format))
    throw new BootError(`${where}: ${shown(format)} is not a known format. ${meant(String(format), stringFormats)}`)
}

function smallestOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

function sourceOfCheapPattern(pattern: string | RegExp, maxLength = Infinity, where: string): string {
  const source = patternSource(pattern, where)
  refuseCostlyPattern(new RegExp(source, 'u'), maxLength, `${where}: the pattern`)
  return source
}

function patternSource(pattern: string | RegExp, where: string): string {
  expression(pattern, `${where}: pattern`)
  const { source, flags } = typeof pattern === 'string' ? { source: pattern, flags: '' } : pattern
  if (!/^[uv]?$/.test(flags))
    throw new BootError(
      `${where}: the pattern /${source}/${flags} has flags, which JSON Schema does not have. For the flag i write [Aa].`,
    )
  try {
    return new RegExp(source, 'u').source
  } catch (error) {
    throw new BootError(
      `${where}: the pattern is not valid with the flag 'u', which validators of JSON Schema use: ${String(error)}.`,
    )
  }
}
