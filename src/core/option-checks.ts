import { BootError } from './boot-error.js'
import { type KeyOf, LONGEST, refuseUnknownOptions, shown } from './options.js'

/*
 * Options are declared once: their names, and what their values are.
 */

/** Checks the value of an option, which is not undefined. @throws BootError that begins with the place: `createApp(): bodyLimit`. */
export type OptionCheck = (value: unknown, place: string) => void

/** A check for each option of `T`, or of the members of a union. A new option that is missing here is a compile error. */
export type OptionChecks<T> = Readonly<Record<KeyOf<T>, OptionCheck>>

/**
 * @param required the options whose checks refuse `undefined`.
 * @throws BootError for options that are not an object, for unknown names, and for values that a check refuses.
 */
export function checkOptions(
  where: string,
  options: unknown,
  checks: Readonly<Record<string, OptionCheck>>,
  required: readonly string[] = [],
): void {
  refuseUnknownOptions(where, options, checks)
  // `createApp(): timeouts` is already inside an option.
  const separator = where.includes('(): ') ? '.' : ': '
  for (const [name, check] of Object.entries(checks)) {
    const value: unknown = Reflect.get(options, name)
    if (value !== undefined || required.includes(name)) check(value, `${where}${separator}${name}`)
  }
}

/** The check of an option that is checked with others, or where it is used. */
export const unchecked: OptionCheck = () => {}

/** `true` or `false`. */
export const flag = typed('boolean', 'true or false')

/** @param expected what to write: `a path, such as '/metrics'`. */
export function text(expected: string): OptionCheck {
  return typed('string', expected)
}

/** The value is not displayed: it may be a secret. */
export function typed(type: 'string' | 'boolean' | 'function', expected: string): OptionCheck {
  return (value, place) => {
    if (typeof value !== type)
      throw new BootError(`${place} is of type ${value === null ? 'null' : typeof value}. Write ${expected}.`)
  }
}

/** @param unit what the number counts: `bytes, as in 1024 * 1024`. */
export function integer(unit: string, least: number, most: number): OptionCheck {
  const fits = (value: unknown) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most
  return fitting(fits, `a whole number of ${unit}, from ${least} to ${most}`)
}

/** How many of something, or none. */
export const count = fitting((value) => Number.isSafeInteger(value) && Number(value) >= 0, 'a whole number from 0')

/** @param example a number of milliseconds: `30_000`. */
export function milliseconds(example: string, least = 1): OptionCheck {
  return integer(`milliseconds, as in ${example}`, least, LONGEST)
}

/** A list, whose entries may have a check of their own. @param example an entry. */
export function list(example: string, check: OptionCheck = unchecked): OptionCheck {
  return (value, place) => {
    requireArray(value, place, example)
    // entries() includes the holes of an array, which forEach() skips.
    for (const [index, entry] of value?.entries() ?? []) check(entry, `${place}[${index}]`)
  }
}

/** Other values are displayed. @param advice what to write: `new Registry(), of prom-client`. */
export function fitting(fits: (value: unknown) => boolean, advice: string): OptionCheck {
  return (value, place) => {
    if (!fits(value)) throw new BootError(`${place} is ${shown(value)}. Write ${advice}.`)
  }
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$/

/** What identifies something in the database: the same when programs change. @param example `'mail.welcome'`. */
export function storedName(example: string): OptionCheck {
  return fitting(
    (value) => typeof value === 'string' && NAME.test(value),
    `letters, digits, and _ . : - between them, at most 100: ${example}`,
  )
}

/** @param example the function: `(request) => request.url === '/livez'`. */
export function callback(example: string): OptionCheck {
  return fitting((value) => typeof value === 'function', `a function: ${example}`)
}

/** One of these words, two or more. */
export function either(...words: readonly string[]): OptionCheck {
  const quoted = words.map((word) => `'${word}'`)
  return fitting(
    (value) => typeof value === 'string' && words.includes(value),
    `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`,
  )
}

/** The check of values that must pass two checks. The first one is tried first. */
export function both(first: OptionCheck, second: OptionCheck): OptionCheck {
  return (value, place) => {
    first(value, place)
    second(value, place)
  }
}

/** Options within an option. */
export function options(checks: Readonly<Record<string, OptionCheck>>): OptionCheck {
  return (value, place) => checkOptions(place, value, checks)
}

/** @throws BootError for a value that is neither a list nor undefined; `example` is an entry. A string is not displayed: it may be a secret. */
export function requireArray(
  value: unknown,
  place: string,
  example: string,
): asserts value is readonly unknown[] | undefined {
  if (value === undefined || Array.isArray(value)) return
  throw new BootError(
    `${place} takes a list, got ${typeof value === 'string' ? 'a string' : shown(value)}. Write [${example}].`,
  )
}
