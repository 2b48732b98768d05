import type { FindOptions, Model, ModelStatic, Order, OrderItem } from 'sequelize'
import { type Session, Session as SessionToken } from '../db/session.js'
import { type Select, type Sql, sql } from '../db/statement.js'
import { BootError } from '../di/errors.js'
import { provideItself } from '../di/provider.js'
import type { Yields } from '../di/token.js'
import { inputDependency } from '../http/inputs.js'
import { checkedLimits, DEFAULT_LIMITS, type Limits } from './limits.js'
import type { Page, PageMeta } from './page.js'

/** A paginator: turns a statement into the page that the client asked for. */
export interface PaginateType<T> {
  <M extends Model>(statement: Select<M>): Promise<Page<M extends T ? T : never>>
  <Row>(statement: Sql<Row>): Promise<Page<Row extends T ? T : never>>
}

export type Paginate<T> = PaginateType<T>

/** What stands for a paginator: a parameter's type, a base class, or the argument of `@Inject`. */
// any: which rows it pages is said where it is asked for, Paginate<HeroModel>.
// oxlint-disable typescript/no-explicit-any
export interface PaginationToken extends Yields<PaginateType<any>> {
  new <T = any>(): PaginateType<T>
}
// oxlint-enable typescript/no-explicit-any

/** Sizes of pages; the names of the specification are understood as well. */
export interface PaginationOptions {
  /** The page size when the request gives no `limit`. Default 10. */
  readonly defaultPageSize?: number
  /** The largest `limit` that a request may give. Default 100. */
  readonly maxPageSize?: number
  readonly default_page_size?: number
  readonly max_page_size?: number
}

/**
 * A paginator with sizes of its own.
 *
 * @throws BootError for sizes that are not whole numbers with 1 <= default <= max.
 * @example
 * const bigPages = newPagination({ defaultPageSize: 5, maxPageSize: 500 })
 * // list(@Inject(bigPages) paginate: PaginateType<HeroModel>) { return paginate(select(Hero)) }
 * class BigPages<T> extends newPagination({ maxPageSize: 500 })<T> {}
 * // list(paginate: BigPages<HeroModel>) { return paginate(select(Hero)) }
 */
export function newPagination(options: PaginationOptions = {}): PaginationToken {
  const limits = checkedLimits({
    standard: options.defaultPageSize ?? options.default_page_size ?? DEFAULT_LIMITS.standard,
    most: options.maxPageSize ?? options.max_page_size ?? DEFAULT_LIMITS.most,
  })
  const token = class Paginate {}
  provideItself(token, {
    kind: 'factory',
    lifetime: 'request',
    create: (session: Session, offset: number, limit: number) => paginator(session, { offset, limit }),
    dependencies: [{ kind: 'token', token: SessionToken }, offsetInput(), limitInput(limits)],
  })
  // Nothing is ever built by `new`: the provider above makes the function that the type speaks of.
  return token as unknown as PaginationToken
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

export function limitInput({ standard, most }: Limits) {
  return inputDependency('query', {
    name: 'limit',
    type: 'integer',
    minimum: 1,
    maximum: most,
    default: standard,
    description: 'How many records to send at most.',
  })
}

interface Slice {
  readonly offset: number
  readonly limit: number
}

function paginator(session: Session, slice: Slice) {
  return async (statement: Select<Model> | Sql<unknown>): Promise<Page<unknown>> => {
    const data =
      statement.kind === 'select'
        ? await rowsOf(session, statement, slice)
        : await rowsOfText(session, statement, slice)
    const total = isWhole(data, slice) ? slice.offset + data.length : await countOf(session, statement)
    return { data, meta: metaOf(total, slice) }
  }
}

// A page that is not full, but not empty either, is the last one: its end is the total.
function isWhole(data: readonly unknown[], { offset, limit }: Slice): boolean {
  return data.length < limit && (data.length > 0 || offset === 0)
}

/** `total_pages = ceil(total / limit)`, `page_number = floor(offset / limit) + 1`: specification, "Offset page". */
export function metaOf(total: number, { offset, limit }: Slice): PageMeta {
  return {
    offset,
    total_items: total,
    total_pages: Math.ceil(total / limit),
    page_number: Math.floor(offset / limit) + 1,
  }
}

function countOf(session: Session, statement: Select<Model> | Sql<unknown>): Promise<number> {
  return statement.kind === 'select' ? session.count(statement) : countOfText(session, statement)
}

async function rowsOf(session: Session, statement: Select<Model>, { offset, limit }: Slice): Promise<Model[]> {
  const { model, options } = statement
  refuseGroups(options)
  return session.all({
    ...statement,
    options: { ...options, offset, limit, order: withPrimaryKey(model, options.order) },
  })
}

function refuseGroups(options: FindOptions): void {
  if (!('group' in options) || options.group === undefined) return
  throw new BootError(
    `paginate(select(Model, { group })): grouped rows are no rows of the model, and their number is not what COUNT says. ` +
      'Write the statement as text: paginate(sql`SELECT team, count(*) AS heroes FROM hero GROUP BY team ORDER BY team`).',
  )
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

function rowsOfText(session: Session, statement: Sql<unknown>, { offset, limit }: Slice): Promise<unknown[]> {
  return session.execute(sql`${statement} LIMIT ${limit} OFFSET ${offset}`)
}

async function countOfText(session: Session, statement: Sql<unknown>): Promise<number> {
  const [row] = await session.execute<{ total: number | string }>(
    sql`SELECT count(*) AS total FROM (${statement}) AS counted`,
  )
  return Number(row?.total)
}
