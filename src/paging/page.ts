import type { DataOf, Described, Named, ObjectShape, Property, Shape } from '../schema/shape/shape.js'
import { shapeOf } from '../schema/shape/shape-of.js'
import { type PlainReader, plainReader, lazyRowsOf } from './lazy-instances.js'

/** The position of a page in its list. */
export interface PageMeta {
  /** The offset of the first record, from 0. */
  readonly offset: number
  /** The number of all records of the list. */
  readonly total_items: number
  readonly total_pages: number
  /** Counted from 1. */
  readonly page_number: number
}

/** One page of a list: the result of an offset paginator. */
export interface Page<T> {
  data: T[]
  meta: PageMeta
}

/** The position of the next page. */
export interface CursorPageMeta {
  /** The query parameter `next_cursor` of the next page; null at the end of the list. */
  readonly next_cursor: string | null
}

/** One page of a list: the result of a cursor paginator. */
export interface CursorPage<T> {
  data: T[]
  meta: CursorPageMeta
}

/** A single record in an envelope, to which properties can be added without breaking clients. */
export interface Item<T> {
  data: T
}

/** A list that is not paged. */
export interface Collection<T> {
  data: T[]
}

/**
 * The response of a list route: `{ data, meta: { offset, total_items, total_pages, page_number } }`.
 *
 * @example
 * @Get('/', Page.of(HeroModel)) list(paginate: Paginate<HeroModel>) { return paginate(select(Hero)) }
 */
export const Page = {
  of<const S>(declaration: S): Described<Page<DataOf<S>>> {
    return pageEnvelope('Page', declaration, META)
  },
}

/**
 * The response of a list route that is paged by cursor: `{ data, meta: { next_cursor } }`. Exported as `Page` by `sequitur/cursor`.
 *
 * @example
 * @Get('/', Page.of(HeroModel)) list(paginate: Paginate<HeroModel>) { return paginate(select(Hero, { order: [['age', 'DESC']] })) }
 */
export const CursorPage = {
  of<const S>(declaration: S): Described<CursorPage<DataOf<S>>> {
    return pageEnvelope('CursorPage', declaration, CURSOR_META)
  },
}

/**
 * The response of a route for one record: `{ data }`.
 *
 * @example
 * @Get('/:hero_id', Item.of(HeroModel))
 */
export const Item = {
  of<const S>(declaration: S): Described<Item<DataOf<S>>> {
    return envelope('Item', declaration, (shape) => ({ data: required(shape) }))
  },
}

/**
 * The response of a route for a list without pages: `{ data }`.
 *
 * @example
 * @Get('/teams', Collection.of(TeamModel))
 */
export const Collection = {
  of<const S>(declaration: S): Described<Collection<DataOf<S>>> {
    return envelope('Collection', declaration, (shape) => ({ data: required({ kind: 'array', items: shape }) }))
  },
}

const META: ObjectShape = {
  kind: 'object',
  name: 'PageMeta',
  origin: 'PageMeta',
  properties: () =>
    new Map([
      ['offset', required({ kind: 'integer', minimum: 0, description: "The offset of the page's first record." })],
      ['total_items', required({ kind: 'integer', minimum: 0, description: 'How many records there are in all.' })],
      ['total_pages', required({ kind: 'integer', minimum: 0, description: 'How many pages there are.' })],
      ['page_number', required({ kind: 'integer', minimum: 1, description: 'Which page this is, counted from 1.' })],
    ]),
}

const CURSOR_META: ObjectShape = {
  kind: 'object',
  name: 'CursorPageMeta',
  origin: 'CursorPageMeta',
  properties: () =>
    new Map([
      [
        'next_cursor',
        required({
          kind: 'string',
          nullable: true,
          description: "The next page's query parameter next_cursor; null at the end.",
        }),
      ],
    ]),
}

function required(shape: Shape): Property {
  return { shape, optional: false }
}

type Properties = (item: Shape) => Record<string, Property>

// A function: Page.of() runs while classes are still being declared, and the columns of a model are known only after createApp() has mapped it.
function envelope(name: string, declaration: unknown, properties: Properties, reader?: typeof pageReader) {
  let made: ObjectShape | undefined
  const make = (item: Shape): ObjectShape => ({
    ...makeEnvelope(name, item, properties),
    ...(reader ? { read: reader(item) } : {}),
  })
  return { shape: () => (made ??= make(shapeOf(declaration))) }
}

function pageEnvelope(name: string, declaration: unknown, meta: ObjectShape) {
  const properties: Properties = (item) => ({ data: required({ kind: 'array', items: item }), meta: required(meta) })
  return envelope(name, declaration, properties, pageReader)
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
    return read ? { data: rows.map(({ values }) => read(values)), meta: Reflect.get(page, 'meta') } : page
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
