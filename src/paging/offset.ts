import { type Model, type ModelStatic, type Order, type OrderItem, type Sequelize, Utils } from 'sequelize'
import { countRows } from '../db/statements/count.js'
import { type Find, type Join, leadsTo, toFind } from '../db/statements/find.js'
import { queryGeneratorOf } from '../db/sequelize/internals.js'
import type { Session } from '../db/session/session.js'
import type { Select, Sql } from '../db/statements/statement.js'
import { BootError } from '../core/boot-error.js'
import { type OptionNames, refuseUnknownOptions } from '../core/options.js'
import { provideItself } from '../di/provider.js'
import type { Yields } from '../di/token.js'
import { inputDependency } from '../http/input/parameters.js'
import { ReplyHeaders } from '../http/output/reply.js'
import { Request } from '../http/request.js'
import { DATABASE_OPTIONS, type DatabaseOptions, sessionFor, sessionTokenOf } from './which-database.js'
import { limitInput, limitsOf, SIZE_OPTIONS, type SizeOptions } from './limits.js'
import { setLinks } from './links.js'
import { columnCodecOf } from './column-codec.js'
import { keyColumns } from './order.js'
import type { Page, PageMeta } from './page.js'
import { refuseUnpageable } from './refuse-unpageable.js'
import { type Aliased, comesInParts, readPlaces, readRowsAt } from './rows.js'
import { counting, sliced } from './raw-sql.js'
import { findRows, instancesOf, pageOf, type Row } from './lazy-instances.js'

/** A paginator: turns a statement into the page that the client asked for. Rows of the statement are what it was asked for: `T`. */
export interface PaginateType<T> {
  <M extends Model & T>(statement: Select<M>): Promise<Page<T>>
  <Row>(statement: Sql<Row> & Giving<Row, T>): Promise<Page<T>>
}

// Of a text that does not say what its rows are, what is sent is checked when it is sent.
type Giving<Row, T> = string extends keyof Row ? unknown : Row extends T ? unknown : Sql<T>

export type Paginate<T> = PaginateType<T>

/** What stands for a paginator: a parameter's type, a base class, or the argument of `@Inject`. */
// any: which rows it pages is said where it is asked for, Paginate<HeroModel>.
// oxlint-disable typescript/no-explicit-any
export interface PaginationToken extends Yields<PaginateType<any>> {
  new <T = any>(): PaginateType<T>
}
// oxlint-enable typescript/no-explicit-any

type AnyStatement = Select<Model> | Sql<unknown>

/** A paginator's own sizes, its own database, and its own way to count. */
export interface PaginationOptions extends SizeOptions, DatabaseOptions {
  /** How many rows there are in all, where something knows better than COUNT: an estimate, a cache. */
  readonly count?: (session: Session, statement: AnyStatement) => number | Promise<number>
}

/** The same with its own mapping of rows: what `map` makes of each row is the page's data. */
export interface MappedPaginationOptions<Row, T> extends PaginationOptions {
  readonly map: (row: Row) => T | Promise<T>
}

interface AnyPaginationOptions extends PaginationOptions {
  readonly map?: (row: never) => unknown
}

/** A paginator that maps its rows. */
export interface MappedPaginate<Row, T> {
  (statement: Sql<Row>): Promise<Page<T>>
  <M extends Model>(statement: Row extends M ? Select<M> : M extends Row ? Select<M> : never): Promise<Page<T>>
}

/** What stands for a paginator that maps its rows. */
export interface MappedPaginationToken<Row, T> extends Yields<MappedPaginate<Row, T>> {
  new (): MappedPaginate<Row, T>
}

/**
 * A paginator with sizes of its own, its own count, or its own mapping of rows; or for texts of another database than the first.
 *
 * @throws BootError for sizes that are not whole numbers with 1 <= default <= max, for what should be a function, and for no session.
 * @example
 * const bigPages = newPagination({ defaultPageSize: 5, maxPageSize: 500 })
 * // list(@Inject(bigPages) paginate: PaginateType<HeroModel>) { return paginate(select(Hero)) }
 * const stickies = newPagination({ map: (row: StickyRow) => ({ id: row.id, by: row.user_name }), count: (session) => session.count(select(Sticky)) })
 * const entries = newPagination({ session: audit.Session })
 * class BigPages<T> extends newPagination({ maxPageSize: 500 })<T> {}
 * // list(paginate: BigPages<HeroModel>) { return paginate(select(Hero)) }
 */
export function newPagination(options?: PaginationOptions): PaginationToken
export function newPagination<Row, T>(options: MappedPaginationOptions<Row, T>): MappedPaginationToken<Row, T>
export function newPagination(options: AnyPaginationOptions = {}): unknown {
  refuseUnknownOptions('newPagination()', options, PAGINATION_OPTIONS)
  const limits = limitsOf(options)
  refuseOtherThanFunctions(options)
  const token = class Paginate {}
  provideItself(token, {
    kind: 'factory',
    lifetime: 'request',
    create: (session: Session, request: Request, headers: ReplyHeaders, offset: number, limit: number) =>
      paginator({ session, request, headers, slice: { offset, limit }, options }),
    dependencies: [
      { kind: 'token', token: sessionTokenOf(options) },
      { kind: 'token', token: Request },
      { kind: 'token', token: ReplyHeaders },
      offsetInput(),
      limitInput(limits),
    ],
  })
  // Nothing is ever built by `new`: the provider above makes the function that the type speaks of.
  return token
}

const PAGINATION_OPTIONS: OptionNames<AnyPaginationOptions> = {
  ...SIZE_OPTIONS,
  ...DATABASE_OPTIONS,
  count: true,
  map: true,
}

function refuseOtherThanFunctions(options: AnyPaginationOptions): void {
  for (const name of ['count', 'map'] as const)
    if (options[name] !== undefined && typeof options[name] !== 'function')
      throw new BootError(`newPagination(): ${name} must be a function, got ${String(options[name])}.`)
}

/**
 * The paginator of the query's `offset` (from 0, default 0) and `limit` (1 to 100, default 10).
 *
 * @example
 * @Get('/', Page.of(HeroModel)) list(paginate: Paginate<HeroModel>) { return paginate(select(Hero)) }
 */
export const Paginate: PaginationToken = newPagination()

function offsetInput() {
  return inputDependency('query', {
    name: 'offset',
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    description: 'How many records to skip.',
  })
}

interface Slice {
  readonly offset: number
  readonly limit: number
}

interface Asked {
  readonly session: Session
  readonly request: Request
  readonly headers: ReplyHeaders
  readonly slice: Slice
  readonly options: AnyPaginationOptions
}

function paginator({ session: own, request, headers, slice, options: { count, map } }: Asked) {
  return async (statement: AnyStatement): Promise<Page<unknown>> => {
    const session = sessionFor(statement, own)
    session.readOneSnapshot()
    const list = toList(session, statement)
    const rows = await list.rows(slice)
    const total = count
      ? checkedTotal(await count(session, statement))
      : isWhole(rows, slice)
        ? slice.offset + rows.length
        : await list.count()
    setLinks(request, headers, linksOf(total, slice))
    const meta = metaOf(total, slice)
    return map
      ? { data: await Promise.all(instancesOf(rows).map((row) => map(row as never))), meta }
      : pageOf(rows, meta)
  }
}

// A page that is not full, but not empty either, is the last one: its end is the total.
function isWhole(data: readonly unknown[], { offset, limit }: Slice): boolean {
  return data.length < limit && (data.length > 0 || offset === 0)
}

function checkedTotal(total: number): number {
  if (Number.isSafeInteger(total) && total >= 0) return total
  throw new TypeError(`newPagination({ count }): count returned ${String(total)}, which is no number of rows.`)
}

/** `total_pages = ceil(total / limit)`, `page_number = floor(offset / limit) + 1`: specification, "Offset page". */
export function metaOf(total: number, { offset, limit }: Slice): PageMeta {
  return {
    offset,
    total_items: total,
    total_pages: Math.ceil(total / limit),
    // At the greatest offset and pages of one, the exact number is one that JSON readers do not have.
    page_number: Math.min(Math.floor(offset / limit) + 1, Number.MAX_SAFE_INTEGER),
  }
}

function linksOf(total: number, { offset, limit }: Slice) {
  const at = (start: number) => ({ offset: start, limit })
  const last = Math.max(Math.ceil(total / limit) - 1, 0) * limit
  return {
    first: at(0),
    prev: offset > 0 ? at(Math.max(Math.min(offset - limit, last), 0)) : undefined,
    next: offset + limit < total ? at(offset + limit) : undefined,
    last: at(last),
  }
}

/** What a statement gives: some of its rows, and how many there are. */
interface List {
  rows(slice: Slice): Promise<unknown[]>
  count(): Promise<number>
}

function toList(session: Session, statement: AnyStatement): List {
  if (statement.kind === 'sql')
    return {
      rows: (slice) => session.execute(sliced(statement, slice, session.sequelize.getDialect())),
      count: () => countOfText(session, statement),
    }
  const find = toFind(statement)
  refuseUnpageable(find)
  return { rows: (slice) => rowsOf(find, slice), count: () => countRows(find) }
}

async function rowsOf(find: Find, slice: Slice): Promise<Row[]> {
  const { model, options } = find
  const order = withPrimaryKey(model, options.order)
  if (comesInParts(find) && model.primaryKeyAttributes.length > 0) return wholeRowsOf(find, slice, order)
  return findRows(model, { ...options, ...slice, order, subQuery: false })
}

// First which rows, then the rows with all that they include: LIMIT on a join would cut through a row.
async function wholeRowsOf(find: Find, slice: Slice, order: readonly OrderItem[]): Promise<Model[]> {
  const notation = columnCodecOf((find.model.sequelize as Sequelize).getDialect())
  const keys = keyColumns(find.model, notation)
  const ofRoot = order.filter((item) => !ordersIncluded(item, find.joins))
  const aliased = aliasedBy(find, ofRoot)
  const group = [...new Set([...keys.map(({ sql }) => sql), ...ofRoot.map((item) => sqlOf(item, find, aliased))])]
  const places = await readPlaces(find, keys, notation, { ...slice, order: ofRoot, aliased }, group)
  const ofIncluded = order.filter((item) => !ofRoot.includes(item))
  return readRowsAt(find, keys, notation, places, ofIncluded)
}

// It orders the included rows within each row, not the rows.
function ordersIncluded(item: OrderItem, joins: readonly Join[]): boolean {
  const [step] = Array.isArray(item) ? (item as unknown[]) : []
  return joins.some(
    (join) =>
      leadsTo(step, join) &&
      (join.many || ordersIncluded((item as unknown[]).slice(1) as unknown as OrderItem, join.joins)),
  )
}

// `attributes: { include: [[literal('...'), 'n']] }` gives a name that the order may use.
function aliasedBy({ options: { attributes } }: Find, order: readonly OrderItem[]): readonly Aliased[] {
  const given = Array.isArray(attributes) ? attributes : ((attributes as { include?: unknown[] })?.include ?? [])
  const aliased = given.filter((attribute): attribute is Aliased => Array.isArray(attribute))
  const texts = order.flatMap((item) => (Array.isArray(item) ? (item as unknown[]) : [item])).map(textOf)
  return aliased.filter(([, alias]) => texts.some((text) => text.includes(alias)))
}

function textOf(part: unknown): string {
  if (part instanceof Utils.Literal) return String((part as { val: unknown }).val)
  return part instanceof Utils.Col ? String((part as { col: unknown }).col) : String(part)
}

function sqlOf(item: OrderItem, { model }: Find, aliased: readonly Aliased[]): string {
  const parts = Array.isArray(item) ? [...(item as unknown[])] : [item]
  const last = parts.at(-1)
  if (parts.length > 1 && typeof last === 'string' && /^(?:asc|desc|nulls)\b/i.test(last)) parts.pop()
  const generator = queryGeneratorOf(model.sequelize as Sequelize)
  const [only] = parts
  if (parts.length === 1 && aliased.some(([, alias]) => alias === only))
    return generator.quoteIdentifier(only as string)
  // A literal may say its direction itself.
  return generator.quote(parts, model, '->').replace(/\s+(?:asc|desc)(?:\s+nulls\s+(?:first|last))?\s*$/i, '')
}

/** The order with the primary key after it, so that rows that are equal in it keep one order, and none is seen twice or missed. */
export function withPrimaryKey(model: ModelStatic<Model>, order: Order | undefined): OrderItem[] {
  const items =
    order === undefined || order === null ? [] : Array.isArray(order) ? (order as OrderItem[]) : [order as OrderItem]
  const named = new Set(items.map(columnName))
  return [
    ...items,
    ...model.primaryKeyAttributes.filter((key) => !named.has(key)).map((key): OrderItem => [key, 'ASC']),
  ]
}

function columnName(item: OrderItem): unknown {
  return Array.isArray(item) ? (item.length <= 2 ? item[0] : undefined) : item
}

async function countOfText(session: Session, statement: Sql<unknown>): Promise<number> {
  const [row] = await session.execute(counting(statement, session.sequelize.getDialect()))
  return Number((row as { total: number | string }).total)
}
