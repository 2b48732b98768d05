import { isDeepStrictEqual } from 'node:util'
import { type Alternative, alternativesOf, describeAlternatives, typeOf, valuesOf } from './alternatives.js'
import { isJson, type Json, objectAt, stringsIn } from './json.js'
import { boundChanges, type Direction } from './bounds.js'

/** A part of the old document and the same part of the new one. */
interface Change<T> {
  readonly before: T
  readonly after: T
}

/** Compares schemas of an old and a new document. Returns the changes that break clients of the old document, each as `/path: change`. */
export class SchemaComparison {
  readonly #documents: Change<Json>
  readonly #compared = new Set<string>()

  constructor(before: Json, after: Json) {
    this.#documents = { before, after }
  }

  // Breaking: an input no longer accepts a value that the old schema allows; an output may have one that the old schema does not allow.
  compare(before: unknown, after: unknown, direction: Direction, path = ''): string[] {
    const change = {
      before: alternativesOf(before, this.#documents.before),
      after: alternativesOf(after, this.#documents.after),
    }
    const [narrow, wide] = direction === 'input' ? [change.before, change.after] : [change.after, change.before]
    const found = narrow.map((one) => this.#changesOf(one, narrow, wide, direction, path))
    if (found.every((changes) => changes !== undefined)) return found.flat()
    return [
      ...found.flatMap((changes) => changes ?? []),
      `${path}: the type ${describeAlternatives(change.before)} became ${describeAlternatives(change.after)}`,
    ]
  }

  /** The breaking changes between an alternative and the one that it most likely became; undefined if there is none of its type. */
  #changesOf(
    one: Alternative,
    all: readonly Alternative[],
    others: readonly Alternative[],
    direction: Direction,
    path: string,
  ): string[] | undefined {
    const candidates = others.filter(({ type }) => includesType(type, one.type))
    const named = candidates.find(({ name }) => name !== undefined && name === one.name)
    if (named) return this.#changesBetween(one, named, direction, path)
    const [least] = candidates
      .map((other) => this.#changesBetween(one, other, direction, path))
      .toSorted((a, b) => a.length - b.length)
    // One of several classes became another class only if the two do not differ.
    const isOneOfSeveral = one.name !== undefined && all.filter(({ type }) => type === one.type).length > 1
    return isOneOfSeveral && least?.length !== 0 ? undefined : least
  }

  #changesBetween(narrow: Alternative, wide: Alternative, direction: Direction, path: string): string[] {
    const [before, after] = direction === 'input' ? [narrow, wide] : [wide, narrow]
    return this.#wasCompared(before, after, direction) ? [] : this.#difference(before, after, direction, path)
  }

  // Compares each pair once: classes may refer to themselves.
  #wasCompared({ name }: Alternative, { name: now }: Alternative, direction: Direction): boolean {
    if (name === undefined || now === undefined) return false
    const pair = `${direction} ${name} ${now}`
    return this.#compared.has(pair) || !this.#compared.add(pair)
  }

  #difference(one: Alternative, other: Alternative, direction: Direction, path: string): string[] {
    const { type } = direction === 'input' ? one : other // of the narrower one: 'integer' if the other is 'number'
    const change = { before: one.schema, after: other.schema }
    const { before, after } = change
    const changes = [
      ...valueChanges(change, type, direction),
      ...boundChanges(before, after, type, direction),
      ...opaqueChanges(change),
    ]
    return [
      ...changes.map((text) => `${path}: ${text}`),
      ...(type === 'object' ? this.#properties(change, direction, path) : []),
      ...(type === 'array' ? this.compare(before['items'], after['items'], direction, `${path}/*`) : []),
    ]
  }

  #properties({ before, after }: Change<Json>, direction: Direction, path: string): string[] {
    const [old, now] = [propertiesOf(before), propertiesOf(after)]
    const kept = [...old].flatMap(([name, schema]) =>
      now.has(name) ? this.compare(schema, now.get(name), direction, `${path}/${name}`) : [],
    )
    const removed = [...old.keys()]
      .filter((name) => !now.has(name) && (direction === 'output' || after['additionalProperties'] === false))
      .map((name) => `${path}: the property ${name} was removed`)
    return [
      ...kept,
      ...removed,
      ...(direction === 'input' ? defaultChanges({ before, after }, path) : []),
      ...requiredChanges({ before, after }, direction, path),
      ...this.#additionalProperties(before, after, direction, path),
    ]
  }

  /** Properties that the schema does not name. Additional ones in a response break no client. */
  #additionalProperties(before: Json, after: Json, direction: Direction, path: string): string[] {
    const [old, now] = [before['additionalProperties'] ?? true, after['additionalProperties'] ?? true]
    if (typeof old === 'object' && typeof now === 'object') return this.compare(old, now, direction, `${path}/*`)
    if (direction === 'input' && old !== false && now === false)
      return [`${path}: other properties are no longer accepted`]
    return direction === 'output' && typeof old === 'object' && now === false
      ? [`${path}: other properties are no longer returned`]
      : []
  }
}

/** Whether a type contains another one; undefined is any type. */
function includesType(wide: string | undefined, narrow: string | undefined): boolean {
  return wide === undefined || wide === narrow || (wide === 'number' && narrow === 'integer')
}

function propertiesOf(schema: Json): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(objectAt(schema, 'properties') ?? {}))
}

function defaultChanges({ before, after }: Change<Json>, path: string): string[] {
  const [required, requiredNow, now] = [
    stringsIn(before['required']),
    stringsIn(after['required']),
    propertiesOf(after),
  ]
  return [...propertiesOf(before)].flatMap(([name, schema]) => {
    if (required.has(name) || requiredNow.has(name) || !now.has(name)) return []
    const change = defaultChange(schema, now.get(name))
    return change ? [`${path}/${name}: ${change}`] : []
  })
}

function requiredChanges({ before, after }: Change<Json>, direction: Direction, path: string): string[] {
  const [required, requiredNow] = [stringsIn(before['required']), stringsIn(after['required'])]
  if (direction === 'input')
    return [...requiredNow]
      .filter((name) => !required.has(name))
      .map((name) => `${path}: the property ${name} is now required`)
  const now = propertiesOf(after)
  return [...required]
    .filter((name) => !requiredNow.has(name) && now.has(name))
    .map((name) => `${path}: the property ${name} may now be missing`)
}

/** The change of a default value; undefined if it is the same. */
export function defaultChange(before: unknown, after: unknown): string | undefined {
  const [old, now] = [before, after].map((schema) => (isJson(schema) ? schema['default'] : undefined))
  if (isDeepStrictEqual(old, now)) return undefined
  const describe = (value: unknown) => (value === undefined ? 'no default' : `default ${shown(value)}`)
  return `${describe(old)} became ${describe(now)}`
}

function valueChanges({ before, after }: Change<Json>, type: string | undefined, direction: Direction): string[] {
  const [old, now] = [valuesOf(before), valuesOf(after)].map((values) =>
    values?.filter((value) => includesType(type, typeOf(value))),
  )
  const lost = (from: readonly unknown[], to: readonly unknown[]) =>
    from.filter((value) => !to.some((other) => isDeepStrictEqual(value, other))).map(shown)
  if (direction === 'input') {
    if (!now) return []
    if (!old) return [`only ${now.map(shown).join(', ')} are now accepted`]
    return lost(old, now).length > 0 ? [`${lost(old, now).join(', ')} is no longer accepted`] : []
  }
  if (!old) return []
  if (!now) return [`values other than ${old.map(shown).join(', ')} may now be returned`]
  return lost(now, old).length > 0 ? [`${lost(now, old).join(', ')} may now be returned`] : []
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Keywords that are too rare to be compared: any change of them counts as breaking. */
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
