import { formatCheck } from '../shape/formats.js'
import { MAX_DIGITS } from '../shape/text-formats.js'
import { isLonger, lengthOf } from '../shape/length.js'
import { matches } from '../patterns/matches.js'
import type { ArrayShape, NumberShape, Shape, StringShape } from '../shape/shape.js'

/** Why the JSON of a value of the right type is refused, as the end of a message; undefined when it is accepted. */
export type Constraint = (json: unknown) => string | undefined

/** Compiles the constraints of a shape beyond the type of its values; undefined when it has none. */
export function compileConstraint(shape: Shape): Constraint | undefined {
  // A model's validators run when a row is saved, not when it is sent: it may be older than the validators.
  const base = shape.customValidation?.base ?? shape
  switch (base.kind) {
    case 'string':
      return all(ofString(base))
    case 'integer':
    case 'number':
      return all(ofNumber(base))
    case 'array':
      return all(ofArray(base))
    case 'map': {
      const { maxProperties: most } = base
      return all([[(map: object) => Object.keys(map).length <= most, `at most ${most} properties`]])
    }
    case 'bigint':
      return all([[(text: string) => text.length <= MAX_DIGITS, `at most ${MAX_DIGITS} characters`]])
    default:
      return undefined
  }
}

type Test = readonly [isMet: (json: never) => boolean, declared: string] // never: each test takes JSON of its shape's type

function all(tests: readonly (Test | undefined)[]): Constraint | undefined {
  const given = tests.filter((test) => test !== undefined)
  if (given.length === 0) return undefined
  return (json) => {
    const failed = given.find(([isMet]) => !isMet(json as never)) // the encoder returned JSON of the shape's type
    return failed && `does not fit, declared ${failed[1]}`
  }
}

function ofString({ minLength, maxLength, pattern, format }: StringShape): (Test | undefined)[] {
  const expression = pattern === undefined ? undefined : new RegExp(pattern, 'u')
  return [
    when(minLength, (least) => [(text: string) => lengthOf(text) >= least, `at least ${least} characters`]),
    when(maxLength, (most) => [(text: string) => !isLonger(text, most), `at most ${most} characters`]),
    when(expression, (known) => [(text: string) => matches(known, text), `${known}`]),
    when(format, (name) => [formatCheck(name), `of the format ${name}`]),
  ]
}

function ofNumber(shape: NumberShape): (Test | undefined)[] {
  return [
    when(shape.minimum, (least) => [(number: number) => number >= least, `>= ${least}`]),
    when(shape.maximum, (most) => [(number: number) => number <= most, `<= ${most}`]),
    when(shape.exclusiveMinimum, (bound) => [(number: number) => number > bound, `> ${bound}`]),
    when(shape.exclusiveMaximum, (bound) => [(number: number) => number < bound, `< ${bound}`]),
    when(shape.multipleOf, (unit) => [(number: number) => isWhole(number / unit), `a multiple of ${unit}`]),
  ]
}

function ofArray({ minItems, maxItems }: ArrayShape): (Test | undefined)[] {
  return [
    when(minItems, (least) => [(list: readonly unknown[]) => list.length >= least, `at least ${least} items`]),
    when(maxItems, (most) => [(list: readonly unknown[]) => list.length <= most, `at most ${most} items`]),
  ]
}

function when<T>(given: T | undefined, test: (given: T) => Test): Test | undefined {
  return given === undefined ? undefined : test(given)
}

// As in validation of inputs: 0.07 is a multiple of 0.01, although 0.07 / 0.01 is 7.000000000000001, and so is 1e308, although the
// quotient is Infinity.
function isWhole(number: number): boolean {
  return !(Math.abs(number - Math.round(number)) > 1e-9)
}
