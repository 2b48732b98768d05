import { types } from 'node:util'
import { ignoreRejections } from '../../core/promises.js'
import { isDescribed } from '../shape/shape-of.js'
import { escapePointer } from '../../core/json-pointer.js'

/** A part of a value without a declared type that is not sent: an instance of a class, or what JSON would silently drop or empty. */
export class UntypedValueError extends Error {
  override name = 'UntypedValueError'
  /** A JSON Pointer to the part. */
  readonly path: string
  /** `a Secret` */
  readonly what: string
  /** Advice on what to write instead. */
  readonly remedy: string
  /** The name of its class, if that can be declared: a model, or a class with fields. */
  readonly described: string | undefined

  constructor(path: string, { what, remedy, described }: Refusal) {
    super(`${what}${path && ` at ${path}`}: ${remedy}`)
    this.path = path
    this.what = what
    this.remedy = remedy
    this.described = described
  }
}

interface Refusal {
  readonly what: string
  readonly remedy: string
  readonly described?: string
}

/**
 * Writes a value without a declared type as JSON; undefined for undefined. Plain objects, arrays, scalars and what has a `toJSON()`, such as
 * a Date, are written. Models are not, although they have one: all their columns would be sent, including those that are not public.
 *
 * @throws UntypedValueError for everything else, at any depth.
 */
export function stringifyUntyped(value: unknown): string | undefined {
  return writePlain(value) ?? stringifyReference(value)
}

/** @internal The same for every value, of any size. */
export function stringifyReference(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, refuseWhileWriting)
  } catch (error) {
    refusePart(value, '', []) // finds the path, which JSON.stringify() does not report
    throw error
  }
}

function refuseWhileWriting(this: Readonly<Record<string, unknown>>, key: string, json: unknown): unknown {
  const value = this[key]
  if (value === json && (typeof json === 'string' || typeof json === 'boolean')) return json // most parts are
  if (refusalOf(value, json)) throw new RefusedPart()
  return json
}

class RefusedPart extends Error {}

/** JSON.stringify() fails at some thousand levels, because its stack overflows. */
const MAX_DEPTH = 1000

function refusePart(value: unknown, path: string, enclosing: readonly unknown[]): void {
  const json = hasToJson(value) ? value.toJSON() : value
  const refusal = enclosing.includes(json) ? CIRCULAR : enclosing.length > MAX_DEPTH ? TOO_DEEP : refusalOf(value, json)
  if (refusal) throw new UntypedValueError(path, refusal)
  if (typeof json !== 'object' || json === null) return
  for (const [key, part] of Object.entries(json))
    refusePart(part, `${path}/${escapePointer(key)}`, [...enclosing, json])
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  return typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'
}

/** @param json the value, or the result of its toJSON(). */
function refusalOf(value: unknown, json: unknown): Refusal | undefined {
  return refusalOfOne(value, json !== value) ?? (json === value ? undefined : refusalOfOne(json, false))
}

function refusalOfOne(value: unknown, isConverted: boolean): Refusal | undefined {
  switch (typeof value) {
    case 'object':
      return value === null || Array.isArray(value) || isPlain(value)
        ? undefined
        : refusalOfInstance(value, isConverted)
    case 'function':
      return { what: `the function ${value.name || '(anonymous)'}`, remedy: 'Call it, or leave it out.' }
    case 'symbol':
      return { what: String(value), remedy: 'Write its description, or leave it out.' }
    case 'bigint':
      return {
        what: `the bigint ${value}`,
        remedy: `Write String(value), or declare it as @Field({ type: 'bigint' }), which is sent as a string.`,
      }
    case 'number':
      return Number.isFinite(value) ? undefined : { what: `the number ${value}`, remedy: WRITE_NULL }
    default:
      return undefined
  }
}

const WRITE_NULL = 'Write null, or leave it out.'

/** Whether an object is of no class, and no namespace: `JSON` and those of modules have a tag. */
export function isPlain(value: object): boolean {
  return hasNoClass(value) && !(Symbol.toStringTag in value)
}

// True for an object of another realm, too: its prototype is that of all objects, which has none itself.
function hasNoClass(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

const CIRCULAR: Refusal = {
  what: 'an object that contains itself',
  remedy: 'Return the parts that clients need, as a plain object.',
}

const TOO_DEEP: Refusal = {
  what: `a value of more than ${MAX_DEPTH} levels`,
  remedy: 'Return fewer levels, or a list of its parts.',
}

function refusalOfInstance(value: object, isConverted: boolean): Refusal | undefined {
  if (types.isDate(value) && Number.isNaN(value.getTime())) return { what: 'an invalid Date', remedy: WRITE_NULL }
  if (hasNoClass(value))
    return { what: Object.prototype.toString.call(value), remedy: 'Return a plain object of its values.' }
  const type: unknown = value.constructor
  const name = typeof type === 'function' && type.name !== '' ? type.name : 'class without a name'
  const what = `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`
  if (isDescribed(type)) return { what, remedy: 'Its public properties are not declared.', described: name }
  if (value instanceof Promise) ignoreRejections(value)
  for (const [kind, remedy] of KINDS) if (value instanceof kind) return { what, remedy }
  if (isConverted) return undefined
  if ('next' in value && typeof value.next === 'function')
    return { what: 'an iterator', remedy: 'Collect its values in an array: [...values].' }
  return {
    what,
    remedy: `Return a plain object with its public properties, or declare them: put @Field() on them, and ${name} on the route as its response.`,
  }
}

// any: only `instanceof` uses them.
// oxlint-disable-next-line typescript/no-explicit-any
const KINDS: readonly (readonly [abstract new (...args: any[]) => object, string])[] = [
  [Promise, 'It was not awaited. Write await.'],
  [Map, 'Write Object.fromEntries(map), or [...map].'],
  [Set, 'Write [...set].'],
  [Error, 'Throw it, or return its message.'],
  [Uint8Array, `Send bytes by file(bytes, { type: '...' }), or write bytes.toString('base64').`],
]

/*
 * The short path of untyped-value.ts for small values: what JSON.stringify() spends on calling a function is a multiple of what they cost themselves.
 */

/** Levels, and parts of one level, from which a value is left to JSON.stringify(), which is faster for long ones, and finds circular ones. */
const MAX_LEVELS = 3
const MAX_PARTS = 8

/**
 * Writes a value as JSON.stringify() does, if it consists of strings, finite numbers, booleans, null, and plain objects and arrays of these without a
 * `toJSON()`, and is small; undefined for any other value. Each part is read once.
 */
export function writePlain(value: unknown): string | undefined {
  return write(value, 0)
}

function write(value: unknown, level: number): string | undefined {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'number':
      return Number.isFinite(value) ? String(value) : undefined
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      return level < MAX_LEVELS && !('toJSON' in value) ? writeParts(value, level + 1) : undefined
    default:
      return undefined
  }
}

function writeParts(value: object, level: number): string | undefined {
  if (Array.isArray(value)) return writeItems(value, level)
  // The result of JSON.rawJSON() has no prototype.
  if (Object.getPrototypeOf(value) !== Object.prototype || Symbol.toStringTag in value) return undefined
  const keys = Object.keys(value)
  if (keys.length > MAX_PARTS) return undefined
  let text = ''
  for (const key of keys) {
    const part = (value as Readonly<Record<string, unknown>>)[key] // one of its keys
    if (part === undefined) continue
    const written = write(part, level)
    if (written === undefined) return undefined
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${written}`
  }
  return `{${text}}`
}

function writeItems(items: readonly unknown[], level: number): string | undefined {
  const { length } = items
  if (length > MAX_PARTS) return undefined
  let text = ''
  for (let index = 0; index < length; index++) {
    const item = items[index]
    const written = item === undefined ? 'null' : write(item, level)
    if (written === undefined) return undefined
    text += index === 0 ? written : `,${written}`
  }
  return `[${text}]`
}
