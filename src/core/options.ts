import { BootError } from './boot-error.js'
import { isRecord } from './records.js'

/** Why an imported class is undefined where it is used, and how to fix it. */
export const NOT_LOADED =
  'Either its name is misspelt, or it is not loaded yet because two files import each other: move what both need into a third file.'

/**
 * Without its parentheses, a decorator is called with what it decorates: a class, or a prototype and the name of a member.
 *
 * @param call what to write: `@Get('/')`.
 * @param args what the decorator was called with.
 * @throws BootError for a decorator that was not called.
 */
export function refuseMissingCall(call: string, [target, member]: Iterable<unknown>): void {
  const isPrototype = typeof target === 'object' && target !== null && Object.hasOwn(target, 'constructor')
  if (typeof target !== 'function' && !isPrototype) return
  const type = typeof target === 'function' ? target : target.constructor
  const where = typeof member === 'string' ? `${type.name}.${member}` : type.name
  throw new BootError(`${/^@\w+/.exec(call)?.[0]} on ${where} is not called. Write its parentheses: ${call}.`)
}

/** A value as messages display it: `'1mb'`, `the class Hero`, `an instance of Hero`, `an object with a, b`. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'function') return `the ${isClass(value) ? 'class' : 'function'} ${value.name || '(anonymous)'}`
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null) return String(value)
  const type: unknown = value.constructor
  if (typeof type === 'function' && type !== Object) return `an instance of ${type.name}`
  return `an object with ${Object.keys(value).join(', ') || 'no properties'}`
}

/** Whether a function is a class. Only the source shows it: functions have a prototype too. */
export function isClass(value: unknown): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value))
}

/** The longest time that setTimeout() accepts, 24 days in milliseconds. It fires at once for longer ones. */
export const LONGEST = 2 ** 31 - 1

export type KeyOf<T> = T extends unknown ? keyof T : never

/** All option names of `T`, or of the members of a union. A new option that is missing here is a compile error. */
export type OptionNames<T> = Readonly<Record<KeyOf<T>, true>>

/** @throws BootError for a value that is not an object, and for unknown names, with the most similar known one. */
export function refuseUnknownOptions(where: string, options: unknown, names: Readonly<Record<string, unknown>>): void {
  if (!isRecord(options))
    throw new BootError(`${where} takes options such as { ${Object.keys(names)[0]}: ... }, got ${shown(options)}.`)
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(names, name))
  if (unknown.length > 0)
    throw new BootError(
      unknown.map((name) => `${where} has no option '${name}'. ${meant(name, Object.keys(names))}`).join('\n'),
    )
}

/** A hint for an unknown name: the most similar known ones, or all. */
export function meant(name: string, known: readonly string[]): string {
  const nearest = known
    .map((option) => ({ option, distance: distanceOf(plain(name), plain(option)), exact: distanceOf(name, option) }))
    .toSorted((a, b) => a.distance - b.distance || a.exact - b.exact)[0]
  const most = Math.max(1, Math.floor(name.length / 3))
  if (nearest && nearest.distance <= most) return `Did you mean '${nearest.option}'?`
  const longer = known.filter((option) => name.length > 2 && plain(option).startsWith(plain(name)))
  return longer.length > 0
    ? `Did you mean ${longer.map((option) => `'${option}'`).join(' or ')}?`
    : `Use one of ${known.join(', ')}.`
}

/** `max_page_size` -> `maxpagesize` */
function plain(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}

/** The Damerau-Levenshtein distance: how many letters must be replaced, inserted, deleted or swapped with their neighbour. */
function distanceOf(from: string, to: string): number {
  const rows: number[][] = []
  const at = (i: number, j: number) => rows[i]?.[j] ?? Infinity
  for (let i = 0; i <= from.length; i++) {
    const row: number[] = (rows[i] = [])
    for (let j = 0; j <= to.length; j++) {
      const replaced = at(i - 1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1)
      const exchanged = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1] ? at(i - 2, j - 2) + 1 : Infinity
      row.push(i + j === 0 ? 0 : Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, exchanged))
    }
  }
  return at(from.length, to.length)
}
