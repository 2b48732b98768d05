import { type Coercion, setCoercion } from './coercion.js'
import { type Direction, type JsonSchema, mapSubschemas } from './subschemas.js'
import { INSTANT_TEXT, MAX_DIGITS } from './text-formats.js'

/*
 * Types that JSON Schema does not have, in schemas of libraries that would write `{}` for them: any value would be documented, and every
 * property of it sent. Where their JSON is known, it is written; elsewhere the name of the type is, as a keyword that no other schema has.
 */

const MARK = 'x-unrepresentable'
/** The keyword of a part's {@link Coercion}. */
const COERCION = 'x-coercion'

const DATE_TIME = { type: 'string', format: 'date-time' } as const

type OptionsOf = (direction: Direction) => JsonSchema

/** The options with which a library writes JSON Schemas, by its name. */
export const LIBRARY_OPTIONS: Readonly<Record<string, OptionsOf>> = {
  zod: (direction) => ({ unrepresentable: 'any', override: (part: ZodPart) => markZod(part, direction) }),
  arktype: (direction) => ({ fallback: arktypeFallback(direction) }),
}

/** The argument that zod passes to `override` for each part of a schema, with its JSON Schema to be changed. */
interface ZodPart {
  readonly zodSchema: ZodType
  readonly jsonSchema: Record<string, unknown>
}

interface ZodType {
  readonly _zod: { readonly def: ZodDefinition }
}

interface ZodDefinition {
  readonly type: string
  readonly coerce?: boolean
  readonly values?: readonly unknown[]
  readonly checks?: readonly { readonly _zod: { readonly def: { readonly check: string } } }[]
  /** The schema that a pipe begins with. */
  readonly in?: ZodType
}

const ZOD_TYPES: ReadonlySet<string> = new Set(
  'bigint custom date function map nan set symbol transform undefined void'.split(' '),
)

function markZod({ zodSchema, jsonSchema }: ZodPart, direction: Direction): void {
  const { def } = zodSchema._zod
  const { type, coerce = false, values = [] } = def
  // zod writes 1n as the number 1, which it would then refuse.
  const hasBigint = type === 'literal' && values.some((value) => typeof value === 'bigint')
  if (hasBigint) for (const keyword of ['type', 'const', 'enum']) delete jsonSchema[keyword]
  if ((ZOD_TYPES.has(type) || hasBigint) && isSilent(jsonSchema))
    Object.assign(jsonSchema, jsonOfZod(type, coerce, direction) ?? { [MARK]: hasBigint ? 'bigint' : type })
  const coercion = direction === 'input' ? coercionOf(def) : undefined
  if (coercion) jsonSchema[COERCION] = coercion
}

function coercionOf({ type, coerce, checks = [], in: first }: ZodDefinition): Coercion | undefined {
  if (type === 'catch' || (type === 'pipe' && first?._zod.def.type === 'transform')) return 'own'
  if (coerce === true) return type === 'date' || type === 'bigint' ? 'text' : 'type'
  return checks.some((one) => one._zod.def.check === 'overwrite') ? 'overwritten' : undefined
}

/** The JSON that a type of zod receives or sends, if it is known. */
function jsonOfZod(type: string, coerce: boolean, direction: Direction): JsonSchema | undefined {
  if (type === 'date' && direction === 'output') return DATE_TIME
  if (!coerce || direction === 'output') return undefined
  return type === 'date'
    ? { ...DATE_TIME, pattern: INSTANT_TEXT }
    : type === 'bigint'
      ? { type: 'string', maxLength: MAX_DIGITS, pattern: '^-?[0-9]+$' }
      : undefined
}

/** The argument that arktype passes for a part that it cannot write; `base` is what it would write. */
interface ArktypePart {
  readonly base: JsonSchema
  readonly domain?: string
  readonly proto?: { readonly name: string }
  readonly unit?: unknown
}

function arktypeFallback(direction: Direction): Readonly<Record<string, (part: ArktypePart) => JsonSchema>> {
  const ofDate = direction === 'output' ? DATE_TIME : { [MARK]: 'Date' }
  return {
    date: ({ base }) => ({ ...base, ...ofDate }),
    domain: ({ base, domain }) => ({ ...base, [MARK]: domain }),
    proto: ({ base, proto }) => ({ ...base, [MARK]: proto?.name }),
    unit: ({ base, unit }) => ({ ...base, ...(unit instanceof Date ? ofDate : { [MARK]: typeof unit }) }),
  }
}

/** Keywords that do not constrain the value. */
const ANNOTATIONS: ReadonlySet<string> = new Set(
  `$comment default deprecated description examples id readOnly title writeOnly ${MARK} ${COERCION}`.split(' '),
)

function isSilent(json: JsonSchema): boolean {
  return Object.keys(json).every((keyword) => ANNOTATIONS.has(keyword))
}

/** A part of a schema whose JSON is not known. */
export interface Unrepresentable {
  readonly type: string
  /** `list[].when`; empty for the whole schema. */
  readonly path: string
}

/** The JSON Schema without the marks, and the first part that has nothing else. A program may write its JSON: `z.map(...).meta({ type: 'object' })`. */
export function withoutMarks(schema: JsonSchema, path = ''): { json: JsonSchema; first: Unrepresentable | undefined } {
  const { [MARK]: type, [COERCION]: coercion, ...own } = schema
  let first = typeof type === 'string' && isSilent(own) ? { type, path } : undefined
  const json = mapSubschemas(own, (part, keyword, name) => {
    const inner = withoutMarks(part, pathOf(path, keyword, name))
    first ??= inner.first
    return inner.json
  })
  if (coercion !== undefined) setCoercion(json, coercion as Coercion) // only this module writes the keyword
  return { json, first }
}

function pathOf(path: string, keyword: string, name: string | undefined): string {
  if (keyword === 'items' || keyword === 'prefixItems') return `${path}[]`
  if (keyword === 'additionalProperties') return `${path}[name]`
  if (keyword === '$defs') return name ?? path
  return keyword === 'properties' && name !== undefined ? [path, name].filter((part) => part !== '').join('.') : path
}

const ZOD_CURES: Readonly<Record<string, string>> = {
  date: 'Use z.iso.datetime() for a string, z.coerce.date() for a Date made from it',
  bigint: 'Use z.int(), or z.string() with the digits',
  map: 'Use z.record()',
  set: 'Use z.array()',
  undefined: 'Use .optional()',
  void: 'Use .optional()',
  transform: 'Declare its result, .transform(...).pipe(z.string())',
}

/** Advice: a schema to write instead. */
export function cureOf(vendor: string, { type }: Unrepresentable): string {
  return vendor === 'zod'
    ? `${ZOD_CURES[type] ?? 'Use another type'}, or write the JSON of its values: .meta({ type: 'string' }).`
    : `Use another type, or write the JSON Schema yourself: ${BY_HAND}.`
}

/** A Standard Schema with a JSON Schema that the program writes. */
export const BY_HAND = `{ '~standard': { ...schema['~standard'], jsonSchema: { input: () => ({ type: 'string' }), output: () => ({ type: 'string' }) } } }`
