import { checkOptions, flag, type OptionChecks } from '../core/option-checks.js'
import { defined } from '../core/records.js'
import { addSentNames, countBulkUpdates, rowVersion } from '../db/models/row-version.js'
import {
  type Named,
  type ObjectShape,
  propertiesOf,
  type Property,
  type Shape,
  type VersionOf,
} from '../schema/shape/shape.js'
import { shapeOf } from '../schema/shape/shape-of.js'
import { pageReader } from './lazy-instances.js'

/*
 * The shapes of pages and of other objects around a declared type.
 */

/** A property that is always present. */
export function required(shape: Shape): Property {
  return { shape, optional: false }
}

/** A property with a list of items. */
export function listOf(items: Shape): Property {
  return required({ kind: 'array', items })
}

/** The options of `Item.of(Hero, options)` and of the other envelopes. */
export interface EtagOptions {
  /**
   * Sends an ETag, and 304 for `If-None-Match`. Of an item whose model has `version: true` it is the version of the row, with digests; of everything else a
   * digest of the body. Default: false.
   */
  readonly etag?: boolean
}

const OPTIONS: OptionChecks<EtagOptions> = { etag: flag }

interface EnvelopeParts {
  readonly options: EtagOptions
  readonly reader?: typeof pageReader
  readonly headers?: ObjectShape['headers'] & object
  /** The version of responses with an ETag. By default the ETag is a digest of the body. */
  readonly versionOf?: (item: Shape) => VersionOf
}

const ETag = 'Identifies this state of the resource, for If-None-Match and If-Match (RFC 9110).'

type Properties = (item: Shape) => Record<string, Property>

/**
 * The declaration of an object around a declared type.
 *
 * @throws BootError for an unknown option, and for an etag that is not a boolean.
 */
// A function: Page.of() runs while classes are still being declared, and the columns of a model are known only after createApp() has mapped it.
export function envelope(
  name: string,
  declaration: unknown,
  properties: Properties,
  { options, reader, headers, versionOf = () => () => undefined }: EnvelopeParts,
) {
  checkOptions(`${name}.of(Hero, options)`, options, OPTIONS)
  const hasEtag = options.etag === true
  let made: ObjectShape | undefined
  const make = (item: Shape): ObjectShape => ({
    ...makeEnvelope(name, item, properties),
    ...defined({ read: reader?.(item), versionOf: hasEtag ? versionOf(item) : undefined }),
    ...(headers || hasEtag ? { headers: { ...headers, ...(hasEtag ? { ETag } : {}) } } : {}),
  })
  return { shape: () => (made ??= make(shapeOf(declaration))) }
}

const LINK = 'The URLs of other pages of the list, by their relations (RFC 8288); absent when there are none.'

/** The declaration of a page: `{ data, meta }`. */
export function pageEnvelope(name: string, declaration: unknown, meta: ObjectShape, options: EtagOptions) {
  const properties: Properties = (item) => ({ data: listOf(item), meta: required(meta) })
  return envelope(name, declaration, properties, { options, reader: pageReader, headers: { Link: LINK } })
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

/** The version of the row in `{ data }`. */
export function itemVersion(item: Shape): VersionOf {
  const isObject = item.kind === 'object'
  let found: readonly string[] | undefined
  const names = () => (found ??= isObject ? propertiesOf(item, 'output').map(([name]) => name) : [])
  if (isObject) {
    const model = item.source ?? item.origin
    countBulkUpdates(model)
    addSentNames(model, names)
  }
  return (value, source) => {
    const version = 'data' in value ? rowVersion(value.data, names(), source) : undefined
    return version && { ...version, coversBody: isObject && version.coversBody }
  }
}
