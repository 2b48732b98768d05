import { isDeepStrictEqual } from 'node:util'
import { type Alternative, alternativesOf, inWords, typeOf, valuesOf } from './alternatives.js'
import { type Json, names } from './json.js'
import { boundChanges, type Side } from './bounds.js'

/** An old and a new part. On one side clients have the narrow one of them, on the other side the wide one. */
interface Change<T> {
  readonly before: T
  readonly after: T
}

/** Compares schemas of an old and a new document: what breaks clients of the old one, each as `/path: what`. */
export class SchemaComparison {
  readonly #documents: Change<Json>
  readonly #compared = new Set<string>()

  constructor(before: Json, after: Json) {
    this.#documents = { before, after }
  }

  compare(before: unknown, after: unknown, side: Side, path = ''): string[] {
    const change = {
      before: alternativesOf(before, this.#documents.before),
      after: alternativesOf(after, this.#documents.after),
    }
    const [narrow, wide] = side === 'input' ? [change.before, change.after] : [change.after, change.before]
    const found = narrow.map((one) => this.#fitting(one, narrow, wide, side, path))
    if (found.every((changes) => changes !== undefined)) return found.flat()
    return [
      ...found.flatMap((changes) => changes ?? []),
      `${path}: the type ${inWords(change.before)} became ${inWords(change.after)}`,
    ]
  }

  /** The differences to the alternative that it most likely became; undefined when there is none of its type. */
  #fitting(
    one: Alternative,
    all: readonly Alternative[],
    others: readonly Alternative[],
    side: Side,
    path: string,
  ): string[] | undefined {
    const candidates = others.filter(({ type }) => holds(type, one.type))
    const named = candidates.find(({ name }) => name !== undefined && name === one.name)
    if (named) return this.#oriented(one, named, side, path)
    const [least] = candidates
      .map((other) => this.#oriented(one, other, side, path))
      .toSorted((a, b) => a.length - b.length)
    // Of several classes one became another only where nothing tells them apart.
    const isOneOfSeveral = one.name !== undefined && all.filter(({ type }) => type === one.type).length > 1
    return isOneOfSeveral && least?.length !== 0 ? undefined : least
  }

  #oriented(narrow: Alternative, wide: Alternative, side: Side, path: string): string[] {
    const [before, after] = side === 'input' ? [narrow, wide] : [wide, narrow]
    return this.#seen(before, after, side) ? [] : this.#difference(before, after, side, path)
  }

  // Classes may refer to themselves.
  #seen({ name }: Alternative, { name: now }: Alternative, side: Side): boolean {
    if (name === undefined || now === undefined) return false
    const pair = `${side} ${name} ${now}`
    return this.#compared.has(pair) || !this.#compared.add(pair)
  }

  #difference(one: Alternative, other: Alternative, side: Side, path: string): string[] {
    const { type } = side === 'input' ? one : other // the narrow one's: 'integer' of 'integer' and 'number'
    const change = { before: one.schema, after: other.schema }
    const { before, after } = change
    const changes = [
      ...valueChanges(change, type, side),
      ...boundChanges(before, after, type, side),
      ...opaqueChanges(change),
    ]
    return [
      ...changes.map((text) => `${path}: ${text}`),
      ...(type === 'object' ? this.#properties(change, side, path) : []),
      ...(type === 'array' ? this.compare(before['items'], after['items'], side, `${path}/*`) : []),
    ]
  }

  #properties({ before, after }: Change<Json>, side: Side, path: string): string[] {
    const [known, now] = [propertiesOf(before), propertiesOf(after)]
    const kept = [...known].flatMap(([name, schema]) =>
      now.has(name) ? this.compare(schema, now.get(name), side, `${path}/${name}`) : [],
    )
    const removed = [...known.keys()]
      .filter((name) => !now.has(name) && (side === 'output' || after['additionalProperties'] === false))
      .map((name) => `${path}: the property ${name} was removed`)
    return [
      ...kept,
      ...removed,
      ...(side === 'input' ? defaultChanges({ before, after }, path) : []),
      ...requiredChanges({ before, after }, side, path),
      ...this.#others(before, after, side, path),
    ]
  }

  /** Properties that have no name in the schema. Clients are used to find more than they know in what they are sent. */
  #others(before: Json, after: Json, side: Side, path: string): string[] {
    const [known, now] = [before['additionalProperties'] ?? true, after['additionalProperties'] ?? true]
    if (typeof known === 'object' && typeof now === 'object') return this.compare(known, now, side, `${path}/*`)
    if (side === 'input' && known !== false && now === false)
      return [`${path}: other properties are no longer accepted`]
    return side === 'output' && typeof known === 'object' && now === false
      ? [`${path}: other properties no longer come`]
      : []
  }
}

/** Whether values of a type are among those of a wider one; undefined is any. */
function holds(wide: string | undefined, narrow: string | undefined): boolean {
  return wide === undefined || wide === narrow || (wide === 'number' && narrow === 'integer')
}

function propertiesOf(schema: Json): ReadonlyMap<string, unknown> {
  return new Map(Object.entries((schema['properties'] ?? {}) as Json))
}

function defaultChanges({ before, after }: Change<Json>, path: string): string[] {
  const [required, requiredNow, now] = [names(before['required']), names(after['required']), propertiesOf(after)]
  return [...propertiesOf(before)].flatMap(([name, schema]) => {
    if (required.has(name) || requiredNow.has(name) || !now.has(name)) return []
    const change = defaultChange(schema, now.get(name))
    return change ? [`${path}/${name}: ${change}`] : []
  })
}

function requiredChanges({ before, after }: Change<Json>, side: Side, path: string): string[] {
  const [required, requiredNow] = [names(before['required']), names(after['required'])]
  if (side === 'input')
    return [...requiredNow]
      .filter((name) => !required.has(name))
      .map((name) => `${path}: the property ${name} is now required`)
  const now = propertiesOf(after)
  return [...required]
    .filter((name) => !requiredNow.has(name) && now.has(name))
    .map((name) => `${path}: the property ${name} may be missing now`)
}

/** What is taken for a value that a client leaves out; undefined when that has not changed. */
export function defaultChange(before: unknown, after: unknown): string | undefined {
  const [known, now] = [before, after].map((schema) => (schema as Json | undefined)?.['default'])
  if (isDeepStrictEqual(known, now)) return undefined
  const inWords = (value: unknown) => (value === undefined ? 'no default' : `default ${shown(value)}`)
  return `${inWords(known)} became ${inWords(now)}`
}

function valueChanges({ before, after }: Change<Json>, type: string | undefined, side: Side): string[] {
  const [known, now] = [valuesOf(before), valuesOf(after)].map((values) =>
    values?.filter((value) => holds(type, typeOf(value))),
  )
  const lost = (from: readonly unknown[], to: readonly unknown[]) =>
    from.filter((value) => !to.some((other) => isDeepStrictEqual(value, other))).map(shown)
  if (side === 'input') {
    if (!now) return []
    if (!known) return [`only ${now.map(shown).join(', ')} are accepted now`]
    return lost(known, now).length > 0 ? [`${lost(known, now).join(', ')} is no longer accepted`] : []
  }
  if (!known) return []
  if (!now) return [`other values than ${known.map(shown).join(', ')} may come now`]
  return lost(now, known).length > 0 ? [`${lost(now, known).join(', ')} may come now`] : []
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What is too seldom to be understood, and so may not change. */
const OPAQUE = [
  'not',
  'if',
  'then',
  'else',
  'prefixItems',
  'contains',
  'patternProperties',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'unevaluatedProperties',
  'contentEncoding',
]

function opaqueChanges({ before, after }: Change<Json>): string[] {
  return OPAQUE.filter((key) => !isDeepStrictEqual(before[key], after[key])).map((key) => `${key} has changed`)
}
