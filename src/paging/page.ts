import type { DataOf, Described, ObjectShape, Property, Shape } from '../schema/shape/shape.js'
import { envelope, type EtagOptions, hasEtag, itemVersion, pageEnvelope, required, withoutVersion } from './envelope.js'

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
    return pageEnvelope('Page', declaration, META, hasEtag('Page', options))
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
    return pageEnvelope('UncountedPage', declaration, UNCOUNTED_META, hasEtag('UncountedPage', options))
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
    return pageEnvelope('CursorPage', declaration, CURSOR_META, hasEtag('CursorPage', options))
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
    return pageEnvelope('TwoWayPage', declaration, TWO_WAY_META, hasEtag('TwoWayPage', options))
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
    const versionOf = hasEtag('Item', options) ? itemVersion : undefined
    return envelope('Item', declaration, (shape) => ({ data: required(shape) }), { versionOf })
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
    const versionOf = hasEtag('Collection', options) ? () => withoutVersion : undefined
    const properties = (shape: Shape) => ({ data: required({ kind: 'array', items: shape }) })
    return envelope('Collection', declaration, properties, { versionOf })
  },
}

const OFFSET: [name: string, Property] = [
  'offset',
  required({ kind: 'integer', minimum: 0, description: "The offset of the page's first record." }),
]

const META: ObjectShape = {
  kind: 'object',
  name: 'PageMeta',
  origin: 'PageMeta',
  properties: () =>
    new Map([
      OFFSET,
      ['total_items', required({ kind: 'integer', minimum: 0, description: 'How many records there are in all.' })],
      ['total_pages', required({ kind: 'integer', minimum: 0, description: 'How many pages there are.' })],
      ['page_number', required({ kind: 'integer', minimum: 1, description: 'Which page this is, counted from 1.' })],
    ]),
}

const UNCOUNTED_META: ObjectShape = {
  kind: 'object',
  name: 'UncountedPageMeta',
  origin: 'UncountedPageMeta',
  properties: () =>
    new Map([
      OFFSET,
      ['has_next', required({ kind: 'boolean', description: 'Whether there are records after this page.' })],
    ]),
}

const NEXT_CURSOR = cursorProperty('next_cursor', "The next page's query parameter next_cursor; null at the end.")
const PREV_CURSOR = cursorProperty('prev_cursor', "The previous page's query parameter prev_cursor; null at the start.")

function cursorProperty(name: string, description: string): [string, Property] {
  return [name, required({ kind: 'string', nullable: true, description })]
}

const CURSOR_META: ObjectShape = {
  kind: 'object',
  name: 'CursorPageMeta',
  origin: 'CursorPageMeta',
  properties: () => new Map([NEXT_CURSOR]),
}

const TWO_WAY_META: ObjectShape = {
  kind: 'object',
  name: 'TwoWayPageMeta',
  origin: 'TwoWayPageMeta',
  properties: () => new Map([NEXT_CURSOR, PREV_CURSOR]),
}
