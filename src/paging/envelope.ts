import type { Named, ObjectShape, Property, Shape, VersionOf } from '../schema/shape/shape.js'
import { shapeOf } from '../schema/shape/shape-of.js'
import { lazyRowsOf, type PlainReader, plainReader } from './lazy-instances.js'

/*
 * The shapes of pages and of other objects around a declared type.
 */

/** A property that is always there. */
export function required(shape: Shape): Property {
  return { shape, optional: false }
}

interface EnvelopeParts {
  readonly reader?: typeof pageReader
  readonly headers?: ObjectShape['headers'] & object
  /** Exists if responses have an ETag. */
  readonly versionOf?: ((item: Shape) => VersionOf) | undefined
}

const ETag = 'Identifies this state of the resource, for If-None-Match and If-Match (RFC 9110).'

type Properties = (item: Shape) => Record<string, Property>

/** The declaration of an object around a declared type. */
// A function: Page.of() runs while classes are still being declared, and the columns of a model are known only after createApp() has mapped it.
export function envelope(
  name: string,
  declaration: unknown,
  properties: Properties,
  { reader, headers, versionOf }: EnvelopeParts = {},
) {
  let made: ObjectShape | undefined
  const make = (item: Shape): ObjectShape => ({
    ...makeEnvelope(name, item, properties),
    ...(reader ? { read: reader(item) } : {}),
    ...(versionOf ? { versionOf: versionOf(item) } : {}),
    ...(headers || versionOf ? { headers: { ...headers, ...(versionOf ? { ETag } : {}) } } : {}),
  })
  return { shape: () => (made ??= make(shapeOf(declaration))) }
}

/** The ETag is a digest of the body. */
export const withoutVersion: VersionOf = () => undefined

const LINK = 'The URLs of other pages of the list, by their relations (RFC 8288); absent when there are none.'

/** The declaration of a page: `{ data, meta }`. */
export function pageEnvelope(name: string, declaration: unknown, meta: ObjectShape, etag: boolean) {
  const properties: Properties = (item) => ({ data: required({ kind: 'array', items: item }), meta: required(meta) })
  return envelope(name, declaration, properties, {
    reader: pageReader,
    headers: { Link: LINK },
    versionOf: etag ? () => withoutVersion : undefined,
  })
}

// Sends a page that the handler returned unread without building the instances of its rows, if these would return the same values.
function pageReader(item: Shape): (page: object) => object {
  if (item.kind !== 'object') return (page) => page
  const readers = new WeakMap<object, PlainReader | undefined>()
  return (page) => {
    const rows = lazyRowsOf(page)
    const model = rows?.[0]?.model
    if (!rows || !model) return page
    if (!readers.has(model)) readers.set(model, plainReader(model, namesOf(item)))
    const read = readers.get(model)
    return read ? { data: read(rows), meta: Reflect.get(page, 'meta') } : page
  }
}

function namesOf({ properties }: ObjectShape): string[] {
  return [...properties()].flatMap(([name, { writeOnly }]) => (writeOnly ? [] : [name]))
}

function makeEnvelope(name: string, shape: Shape, properties: Properties): ObjectShape {
  const made = new Map(Object.entries(properties(shape)))
  const inner = namedIn(shape)
  const whole = { kind: 'object', properties: () => made } as const
  return inner
    ? { ...whole, name: `${name}_${inner.name}`, origin: originOf(`${name}_${inner.name}`, inner.origin) }
    : { ...whole, name, origin: made, anonymous: true }
}

// Unnamed shapes have no component: two different ones would get the same name.
function namedIn(shape: Shape): Named | undefined {
  switch (shape.kind) {
    case 'object':
      return shape.anonymous ? undefined : shape
    case 'union':
      return shape.named
    case 'array': {
      const items = namedIn(shape.items)
      return items && { name: `${items.name}_list`, origin: items.origin }
    }
    case 'enum':
    case 'map':
    case 'standard':
      return undefined
    default:
      return { name: shape.kind, origin: shape.kind }
  }
}

const origins = new WeakMap<object, Map<string, object>>()

// Two Page.of(Hero) are one component; Page.of(Hero) of another class named Hero is another one.
function originOf(name: string, inner: unknown): unknown {
  if ((typeof inner !== 'object' && typeof inner !== 'function') || inner === null) return name
  const known = origins.get(inner) ?? new Map<string, object>()
  origins.set(inner, known)
  const origin = known.get(name) ?? {}
  known.set(name, origin)
  return origin
}
