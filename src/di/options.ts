import { BootError } from './errors.js'

/** Why something that is imported is undefined where it is used, and the cure. */
export const NOT_LOADED =
  'Either its name is misspelt, or it was not loaded yet, as two files import each other: move what both need into a third file.'

/** A value as a message shows it: `'1mb'`, `the class Hero`, `an instance of Hero`, `an object with a, b`. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'function') return `the ${isClass(value) ? 'class' : 'function'} ${value.name || '(anonymous)'}`
  if (Array.isArray(value)) return 'a list'
  if (typeof value !== 'object' || value === null) return String(value)
  const type: unknown = value.constructor
  if (typeof type === 'function' && type !== Object) return `an instance of ${type.name}`
  return `an object with ${Object.keys(value).join(', ') || 'nothing in it'}`
}

// Only the source tells: a function may be called with new, too.
function isClass(value: unknown): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value))
}

/** @throws BootError for what is neither a list nor left out; `example` is what an entry looks like. */
export function refuseOtherThanList(list: unknown, where: string, example: string): void {
  if (list === undefined || Array.isArray(list)) return
  throw new BootError(`${where} takes a list, got ${shown(list)}. Write [${example}].`)
}
