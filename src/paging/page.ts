import type { DataOf, Described, ObjectShape, Shape } from '../schema/shape/shape.js'
import { envelope, type EtagOptions, itemVersion, listOf, pageEnvelope, required } from './envelope.js'

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

/** The position of a page in a list that is not counted. */
export interface UncountedPageMeta {
  /** The offset of the first record, from 0. */
  readonly offset: number
  /** Whether there are records after this page. */
  readonly has_next: boolean
}

/** One page of a list: the result of an offset paginator. */
export interface Page<T, M = PageMeta> {
  data: T[]
  meta: M
}

/** One page of a list that is not counted: the result of `newPagination({ count: false })`. */
export type UncountedPage<T> = Page<T, UncountedPageMeta>

/** The position of the next page. */
export interface CursorPageMeta {
  /** The query parameter `next_cursor` of the next page; null at the end of the list. */
  readonly next_cursor: string | null
}

/** The positions of the next page and of the previous one. */
export interface TwoWayPageMeta extends CursorPageMeta {
  /** The query parameter `prev_cursor` of the previous page; null at the start of the list. */
  readonly prev_cursor: string | null
}

/** One page of a list: the result of a cursor paginator. */
export type CursorPage<T> = Page<T, CursorPageMeta>

/** One page of a list: the result of `newPagination({ prevCursor: true })` of `sequitur/cursor`. */
export type TwoWayPage<T> = Page<T, TwoWayPageMeta>

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
  of<const S>(declaration: S, options: EtagOptions = {}): Described<Page<DataOf<S>>> {
    return pageEnvelope('Page', declaration, META, options)
  },
}

/**
 * The response of a list route whose records are not counted: `{ data, meta: { offset, has_next } }`.
 *
 * @example
 * class Uncounted<T> extends newPagination({ count: false })<T> {}
 * // @Get('/', UncountedPage.of(HeroModel)) list(paginate: Uncounted<HeroModel>) { return paginate(select(Hero)) }
 */
export const UncountedPage = {
  of<const S>(declaration: S, options: EtagOptions = {}): Described<UncountedPage<DataOf<S>>> {
    return pageEnvelope('UncountedPage', declaration, UNCOUNTED_META, options)
  },
}

/**
 * The response of a list route that is paged by cursor: `{ data, meta: { next_cursor } }`. Exported as `Page` by `sequitur/cursor`.
 *
 * @example
 * @Get('/', Page.of(HeroModel)) list(paginate: Paginate<HeroModel>) { return paginate(select(Hero, { order: [['age', 'DESC']] })) }
 */
export const CursorPage = {
  of<const S>(declaration: S, options: EtagOptions = {}): Described<CursorPage<DataOf<S>>> {
    return pageEnvelope('CursorPage', declaration, CURSOR_META, options)
  },
}

/**
 * The response of a list route that is paged by cursor in both directions: `{ data, meta: { next_cursor, prev_cursor } }`.
 *
 * @example
 * class BothWays<T> extends newPagination({ prevCursor: true })<T> {}
 * // @Get('/', TwoWayPage.of(HeroModel)) list(paginate: BothWays<HeroModel>) { return paginate(select(Hero, { order: ['name'] })) }
 */
export const TwoWayPage = {
  of<const S>(declaration: S, options: EtagOptions = {}): Described<TwoWayPage<DataOf<S>>> {
    return pageEnvelope('TwoWayPage', declaration, TWO_WAY_META, options)
  },
}

/**
 * The response of a route for one record: `{ data }`.
 *
 * @example
 * @Get('/:hero_id', Item.of(HeroModel))
 */
export const Item = {
  of<const S>(declaration: S, options: EtagOptions = {}): Described<Item<DataOf<S>>> {
    return envelope('Item', declaration, (shape) => ({ data: required(shape) }), { options, versionOf: itemVersion })
  },
}

/**
 * The response of a route for a list without pages: `{ data }`.
 *
 * @example
 * @Get('/teams', Collection.of(TeamModel))
 */
export const Collection = {
  of<const S>(declaration: S, options: EtagOptions = {}): Described<Collection<DataOf<S>>> {
    return envelope('Collection', declaration, (shape) => ({ data: listOf(shape) }), { options })
  },
}

function metaShape(name: string, properties: Readonly<Record<string, Shape>>): ObjectShape {
  const all = new Map(Object.entries(properties).map(([property, shape]) => [property, required(shape)]))
  return { kind: 'object', name, origin: name, properties: () => all }
}

const OFFSET: Shape = { kind: 'integer', minimum: 0, description: "The offset of the page's first record." }

const META = metaShape('PageMeta', {
  offset: OFFSET,
  total_items: { kind: 'integer', minimum: 0, description: 'How many records there are in all.' },
  total_pages: { kind: 'integer', minimum: 0, description: 'How many pages there are.' },
  page_number: { kind: 'integer', minimum: 1, description: 'Which page this is, counted from 1.' },
})

const UNCOUNTED_META = metaShape('UncountedPageMeta', {
  offset: OFFSET,
  has_next: { kind: 'boolean', description: 'Whether there are records after this page.' },
})

const NEXT_CURSOR = cursorShape("The next page's query parameter next_cursor; null at the end.")
const PREV_CURSOR = cursorShape("The previous page's query parameter prev_cursor; null at the start.")

function cursorShape(description: string): Shape {
  return { kind: 'string', nullable: true, description }
}

const CURSOR_META = metaShape('CursorPageMeta', { next_cursor: NEXT_CURSOR })
const TWO_WAY_META = metaShape('TwoWayPageMeta', { next_cursor: NEXT_CURSOR, prev_cursor: PREV_CURSOR })
