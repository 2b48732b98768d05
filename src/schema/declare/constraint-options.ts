import { BootError } from '../../core/boot-error.js'
import { meant, refuseOtherThanList, refuseOtherType, shown } from '../../core/options.js'
import { exampleOf } from './default-value.js'
import { longestOfFormat, stringFormats } from '../shape/formats.js'
import { refuseCostlyPattern } from '../patterns/pattern-cost.js'
import type { Shape } from '../shape/shape.js'
import type { ValueOptions } from './value-options.js'

const ANNOTATIONS = ['title', 'description', 'deprecated', 'nullable'] as const
const STRING = ['minLength', 'maxLength', 'format', 'pattern'] as const
const NUMBER = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const
const ARRAY = ['minItems', 'maxItems'] as const

/** The shape with what the options say of it beyond its type. @throws BootError for what says nothing of it, or cannot be. */
export function withConstraints(shape: Shape, options: ValueOptions, where: string): Shape {
  for (const name of ['nullable', 'optional', 'deprecated'] as const)
    refuseOtherType(`${where}: ${name}`, options[name], 'boolean', 'true or false')
  const given = Object.keys(options).filter((key) => options[key as keyof ValueOptions] !== undefined)
  const fitting = { string: STRING, integer: NUMBER, number: NUMBER, array: ARRAY }[shape.kind as string] ?? []
  const stray = [...STRING, ...NUMBER, ...ARRAY].filter(
    (key) => given.includes(key) && !(fitting as readonly string[]).includes(key),
  )
  if (stray.length > 0)
    throw new BootError(
      `${where}: ${stray.join(', ')} says nothing of a value of type '${shape.kind}'. Remove it, or give another type.`,
    )
  const picked = [...ANNOTATIONS, ...fitting].filter((key) => given.includes(key)).map((key) => [key, options[key]])
  const { pattern, ...rest } = Object.fromEntries(picked) as ValueOptions
  refuseOtherThanCounts(rest, where)
  refuseOtherThanNumbers(rest, where)
  refuseCrossedBounds(rest, where)
  if (rest.format !== undefined) refuseUnknownFormat(rest.format, where)
  const maxLength = leastOf(rest.maxLength, rest.format && longestOfFormat(rest.format))
  return {
    ...shape,
    ...rest,
    ...(maxLength === undefined ? {} : { maxLength }),
    ...(pattern === undefined ? {} : { pattern: cheapPattern(pattern, maxLength, where) }),
  } as Shape // every key copied is one of this kind's: `fitting` was chosen by it
}

/** The shape with the examples, as the document shows them. */
export function withExamples(shape: Shape, { example, examples }: ValueOptions, where: string): Shape {
  refuseOtherThanList(examples, `${where}: examples`, 'first, second')
  const given = example === undefined ? examples : [example]
  return given ? { ...shape, examples: given.map((one) => exampleOf(shape, one, where)) } : shape
}

function refuseOtherThanCounts(options: ValueOptions, where: string): void {
  for (const name of ['minLength', 'maxLength', 'minItems', 'maxItems'] as const) {
    const count = options[name]
    if (count !== undefined && !(Number.isSafeInteger(count) && count >= 0))
      throw new BootError(`${where}: ${name} is ${shown(count)}. Write a whole number from 0.`)
  }
}

function refuseOtherThanNumbers(options: ValueOptions, where: string): void {
  for (const name of NUMBER)
    if (options[name] !== undefined && !Number.isFinite(options[name]))
      throw new BootError(`${where}: ${name} is ${shown(options[name])}. Write a number, or leave it out for no bound.`)
  if (options.multipleOf !== undefined && options.multipleOf <= 0)
    throw new BootError(`${where}: multipleOf is ${options.multipleOf}. Write a number above 0.`)
}

/** A lower bound, an upper one, and whether a value may be equal to both. */
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
    const [least, most] = [options[lower], options[upper]]
    if (least === undefined || most === undefined || least < most || (equal && least === most)) continue
    throw new BootError(
      `${where}: no value fits ${lower} ${least} and ${upper} ${most}. Were they exchanged? Write the smaller one as ${lower}.`,
    )
  }
}

function refuseUnknownFormat(format: string, where: string): void {
  if (!stringFormats.includes(format))
    throw new BootError(`${where}: ${shown(format)} is no known format. ${meant(String(format), stringFormats)}`)
}

function leastOf(...bounds: readonly (number | undefined)[]): number | undefined {
  const given = bounds.filter((bound) => bound !== undefined)
  return given.length > 0 ? Math.min(...given) : undefined
}

function cheapPattern(pattern: string | RegExp, maxLength = Infinity, where: string): string {
  const source = patternSource(pattern, where)
  refuseCostlyPattern(new RegExp(source, 'u'), maxLength, `${where}: the pattern`)
  return source
}

function patternSource(pattern: string | RegExp, where: string): string {
  if (typeof pattern !== 'string' && !(pattern instanceof RegExp))
    throw new BootError(`${where}: pattern is ${shown(pattern)}. Write a regular expression, as in /^[a-z]+$/.`)
  const { source, flags } = typeof pattern === 'string' ? { source: pattern, flags: '' } : pattern
  if (!/^[uv]?$/.test(flags))
    throw new BootError(
      `${where}: the pattern /${source}/${flags} has flags, which JSON Schema cannot say. Write [Aa] for i.`,
    )
  try {
    return new RegExp(source, 'u').source
  } catch (error) {
    throw new BootError(`${where}: the pattern cannot be read with the flag 'u' as JSON Schema does: ${String(error)}.`)
  }
}
