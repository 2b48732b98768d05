import { defined, isRecord } from '../../core/records.js'
import { stringFormats } from './formats.js'
import { type JsonSchema, mapSubschemas, resolveReference, toJsonSchema } from './subschemas.js'
import { INSTANT_TEXT } from './text-formats.js'

/*
 * Libraries coerce values: z.coerce.date() converts null to 1970, z.coerce.number() an empty list to 0. Their JSON Schema documents one type, so the
 * values of such parts are checked against it first.
 */

/**
 * How a part of a schema changes a value before it validates it. 'type': to its type. 'text': from a string that its JSON Schema describes.
 * 'overwritten': a string to another, as trim() does. 'own': by a function or a fallback of the program, which may take any value.
 */
export type Coercion = 'type' | 'text' | 'overwritten' | 'own'

const coercions = new WeakMap<JsonSchema, Coercion>()

/** Notes the coercion of a part of a converted JSON Schema. */
export function setCoercion(part: JsonSchema, coercion: Coercion): void {
  coercions.set(part, coercion)
}

export function isCoerced(part: JsonSchema): boolean {
  const coercion = coercions.get(part)
  return coercion === 'type' || coercion === 'text'
}

/**
 * The part of a converted JSON Schema that the values of coerced parts must match; undefined when no part is coerced. The library validates the rest,
 * with its own messages. In a union everything is checked: the parts that are not coerced show which option a value is.
 */
export function coercedSchemaOf(root: JsonSchema): JsonSchema | undefined {
  const reducer = new Reducer(root)
  return reducer.concerns(root) ? reducer.reduce(root, JSON.stringify(root).includes('"$ref":"#"')) : undefined
}

const UNIONS: ReadonlySet<string> = new Set(['anyOf', 'oneOf'])
const STRUCTURE: ReadonlySet<string> = new Set(
  '$ref $defs properties patternProperties additionalProperties items prefixItems allOf anyOf oneOf'.split(' '),
)
/** Schemas that do not validate a value of the body: the name of a property is a string, however it is coerced. */
const NON_VALUE_KEYWORDS: ReadonlySet<string> = new Set(['propertyNames', '$defs'])

class Reducer {
  readonly #root: JsonSchema

  constructor(root: JsonSchema) {
    this.#root = root
  }

  /** Whether a schema has coerced parts, at any depth. */
  concerns(schema: JsonSchema, seen = new Set<JsonSchema>()): boolean {
    if (seen.has(schema) || coercions.get(schema) === 'own') return false
    seen.add(schema)
    if (isCoerced(schema)) return true
    const definition = resolveReference(this.#root, schema)
    let found = definition !== undefined && this.concerns(definition, seen)
    mapSubschemas(schema, (part, keyword) => {
      found ||= !NON_VALUE_KEYWORDS.has(keyword) && this.concerns(part, seen)
      return part
    })
    return found
  }

  /** @param whole whether everything is checked, including parts that are not coerced. */
  reduce(schema: JsonSchema, whole: boolean): JsonSchema {
    const coercion = coercions.get(schema)
    if (coercion) return ofCoercion(schema, coercion, whole)
    if (whole) return mapSubschemas(checkable(schema), (part) => this.reduce(part, true))
    if (!this.concerns(schema)) return {}
    const kept = Object.entries(schema).filter(([keyword, value]) => STRUCTURE.has(keyword) && value !== false)
    return {
      ...mapSubschemas(Object.fromEntries(kept), (part, keyword) =>
        this.reduce(
          part,
          keyword === '$defs' || (UNIONS.has(keyword) && (part['type'] === 'null' || isChoice(schema[keyword]))),
        ),
      ),
      required: this.#required(schema),
    }
  }

  // A library coerces undefined, too: z.coerce.string() makes 'undefined' of it.
  #required({ required, properties }: JsonSchema): readonly unknown[] {
    const known = toJsonSchema(properties)
    const names: readonly unknown[] = Array.isArray(required) ? required : []
    return names.filter((name) => typeof name === 'string' && this.concerns(toJsonSchema(known[name])))
  }
}

/** Whether a union has several options other than null. */
export function isChoice(options: unknown): boolean {
  return Array.isArray(options) && options.filter((option) => toJsonSchema(option)['type'] !== 'null').length > 1
}

function ofCoercion(schema: JsonSchema, coercion: Coercion, whole: boolean): JsonSchema {
  if (coercion === 'own' || (coercion === 'overwritten' && !whole)) return {}
  const { type, format, pattern, maxLength } = schema
  // The library checks the coerced value itself: its minimum, its length.
  if (coercion !== 'text') return defined({ type })
  // As in the schema of a Date: the format has a message for what the pattern excludes.
  if (pattern === INSTANT_TEXT) return { type, format, allOf: [{ format: 'instant' }] }
  return checkable(defined({ type, format, pattern, maxLength }))
}

// Libraries have formats of their own, and the names of properties are strings even where they are coerced.
function checkable(schema: JsonSchema): JsonSchema {
  const { format } = schema
  const isKnown = typeof format === 'string' && stringFormats.includes(format)
  return defined({ ...schema, propertyNames: undefined, format: isKnown ? format : undefined })
}

/** The one schema of a union that strings are read by: what is not null, or what is coerced where no other option takes any string. */
export function readableOption(options: readonly unknown[]): JsonSchema | undefined {
  const others = options.filter(isRecord).filter(({ type }) => type !== 'null')
  if (others.length === 1) return others[0]
  const takesText = others.some(
    (one) => one['type'] === 'string' && !('const' in one) && !('enum' in one) && !isCoerced(one),
  )
  return takesText ? undefined : others.find((one) => isCoerced(one) && one['type'] !== 'string')
}
