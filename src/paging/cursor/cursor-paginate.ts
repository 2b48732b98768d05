import type { Model } from 'sequelize'
import { BootError } from '../../core/boot-error.js'
import { checkOptions, flag, type OptionChecks } from '../../core/option-checks.js'
import { codeOf } from '../../db/dialect.js'
import { ImpossibleValueError } from '../../db/errors.js'
import type { Session } from '../../db/session/session.js'
import { isStatement, type Select } from '../../db/statements/statement.js'
import { provideItself } from '../../di/provider.js'
import type { Yields } from '../../di/token.js'
import { invalidInput } from '../../http/errors.js'
import { inputDependency } from '../../http/input/parameters.js'
import { ReplyHeaders } from '../../http/output/reply.js'
import { documentPagination } from '../../http/routing/paginated.js'
import { Request } from '../../http/request.js'
import { checkRoutes } from '../../http/routing/route-checks.js'
import { UnreadableValueError } from '../column-codec.js'
import { pageOf } from '../lazy-instances.js'
import { setLinks } from '../links.js'
import { keyAt } from '../list-order.js'
import type { CursorPageMeta, Page, TwoWayPageMeta } from '../page.js'
import {
  DATABASE_OPTIONS,
  type DatabaseOptions,
  limitInput,
  limitsOf,
  notAStatement,
  sessionTokenOf,
  SIZE_OPTIONS,
  type SizeOptions,
} from '../paginator.js'
import {
  type CursorPosition,
  CursorKey,
  type Binding,
  CURSOR_LENGTH,
  proofOf,
  readCursor,
  writeCursor,
} from './cursor.js'
import { CursorList } from './cursor-list.js'
import { refuseUnordered } from './refuse-unordered.js'
import { type PageRequest, type PageRows, readPage } from './read-page.js'

/** A paginator: reads the page of a statement that follows the client's cursor. `T` is the type of the page's rows, `P` of its `meta`. */
export interface CursorPaginateType<T, P = CursorPageMeta> {
  <M extends Model & T>(statement: Select<M>): Promise<Page<T, P>>
}

/** The type of a parameter that a paginator is injected for; see the value of the same name. */
export type CursorPaginate<T> = CursorPaginateType<T>

/** The token of a paginator: a parameter's type, a base class, or the argument of `@Inject`. */
// any: the type of the rows is given where a paginator is injected, Paginate<HeroModel>.
// oxlint-disable typescript/no-explicit-any
export interface CursorPaginationToken<P = CursorPageMeta> extends Yields<CursorPaginateType<any, P>> {
  new <T = any>(): CursorPaginateType<T, P>
}
// oxlint-enable typescript/no-explicit-any

/** The page sizes and the database of a paginator. */
export interface CursorPaginationOptions extends SizeOptions, DatabaseOptions {
  /** Whether pages lead backwards, too: by `meta.prev_cursor`, and the query parameter `prev_cursor`. Default false. */
  readonly prevCursor?: boolean
}

const OPTIONS: OptionChecks<CursorPaginationOptions> = { ...SIZE_OPTIONS, ...DATABASE_OPTIONS, prevCursor: flag }

/**
 * A paginator by cursor with its own page sizes, or in both directions.
 *
 * @throws BootError for sizes that are not integers with 1 <= default <= max, for a session that is not a class of sessions, and for a
 * prevCursor that is neither true nor false.
 * @example
 * class BigPages<T> extends newPagination({ defaultPageSize: 5, maxPageSize: 500 })<T> {}
 * // list(paginate: BigPages<HeroModel>) { return paginate(select(Hero, { order: [['age', 'DESC']] })) }
 * class BothWays<T> extends newPagination({ prevCursor: true })<T> {}
 * // @Get('/', TwoWayPage.of(HeroModel)) list(paginate: BothWays<HeroModel>) { return paginate(select(Hero, { order: ['name'] })) }
 */
export function newCursorPagination(
  options: CursorPaginationOptions & { readonly prevCursor: true },
): CursorPaginationToken<TwoWayPageMeta>
export function newCursorPagination(
  options?: CursorPaginationOptions & { readonly prevCursor?: false },
): CursorPaginationToken
export function newCursorPagination(options: CursorPaginationOptions = {}): unknown {
  checkOptions('newPagination()', options, OPTIONS)
  const limits = limitsOf(options)
  const isTwoWay = options.prevCursor === true
  const token = class Paginate {}
  provideItself(token, {
    kind: 'factory',
    lifetime: 'request',
    create: (
      _session: Session,
      key: CursorKey,
      request: Request,
      headers: ReplyHeaders,
      limit: number,
      next: string | undefined,
      prev?: string,
    ) => cursorPaginator({ key: key.value, request, headers, limit, cursor: cursorIn(next, prev), isTwoWay }),
    dependencies: [
      // Unused: a request with a session has the transaction that queries of models join.
      { kind: 'token', token: sessionTokenOf(options) },
      { kind: 'token', token: CursorKey },
      { kind: 'token', token: Request },
      { kind: 'token', token: ReplyHeaders },
      limitInput(limits),
      cursorInput('next_cursor', "The last page's meta.next_cursor; without it the first page is sent."),
      ...(isTwoWay ? [cursorInput('prev_cursor', "A page's meta.prev_cursor: the page before it is sent.")] : []),
    ],
  })
  checkRoutes(token, refuseUnordered)
  documentPagination(token, { style: 'cursor', parameter: 'next_cursor' })
  // The class has no instances: what is injected for it is the function that the provider above creates.
  return token
}

/**
 * The paginator of the query parameters `limit` (1 to 100, default 10) and `next_cursor`. The statement needs an order.
 *
 * @example
 * @Get('/', Page.of(HeroModel)) list(paginate: Paginate<HeroModel>) { return paginate(select(Hero, { order: [['age', 'DESC'], 'name'] })) }
 */
export const CursorPaginate: CursorPaginationToken = newCursorPagination()

function cursorInput(name: Cursor['name'], description: string) {
  return inputDependency('query', {
    name,
    type: 'string',
    minLength: 1,
    maxLength: CURSOR_LENGTH - 1,
    optional: true,
    description,
  })
}

/** A cursor that a client has sent, and the query parameter that it was in. */
interface Cursor {
  readonly name: 'next_cursor' | 'prev_cursor'
  readonly text: string
}

function cursorIn(next: string | undefined, prev: string | undefined): Cursor | undefined {
  if (next !== undefined && prev !== undefined)
    return refuseCursor('prev_cursor', 'and next_cursor are two positions; send one of them')
  if (prev !== undefined) return { name: 'prev_cursor', text: prev }
  return next === undefined ? undefined : { name: 'next_cursor', text: next }
}

interface CursorRequest {
  readonly key: string
  readonly request: Request
  readonly headers: ReplyHeaders
  readonly limit: number
  readonly cursor: Cursor | undefined
  readonly isTwoWay: boolean
}

function cursorPaginator({ key, request, headers, limit, cursor, isTwoWay }: CursorRequest) {
  return async (statement: Select<Model>): Promise<Page<unknown, CursorPageMeta>> => {
    requireSelect(statement)
    const list = new CursorList(statement)
    const binding = { key, list: list.signature }
    const { rows, next, prev } = await readPageAt(cursor, binding, list, { limit, isTwoWay })
    const cursors = { next: next && cursorTo(next, binding, list), prev: prev && cursorTo(prev, binding, list) }
    const other = (name: string) => (isTwoWay ? { [name]: undefined } : {})
    setLinks(request, headers, {
      prev: cursors.prev === undefined ? undefined : { limit, prev_cursor: cursors.prev, ...other('next_cursor') },
      next: cursors.next === undefined ? undefined : { limit, next_cursor: cursors.next, ...other('prev_cursor') },
    })
    const meta = { next_cursor: cursors.next ?? null }
    return pageOf(rows, isTwoWay ? { ...meta, prev_cursor: cursors.prev ?? null } : meta)
  }
}

// A program without a type check may pass anything.
function requireSelect(statement: unknown): void {
  if (!isStatement(statement)) throw notAStatement(statement)
  if (statement.kind === 'sql')
    throw new BootError(
      'paginate(sql`...`): a cursor page needs a known order, which raw SQL does not declare. Write paginate(select(Model, { order })), or use the offset Paginate.',
    )
}

async function readPageAt(
  cursor: Cursor | undefined,
  binding: Binding,
  list: CursorList,
  options: Pick<PageRequest, 'limit' | 'isTwoWay'>,
): Promise<PageRows> {
  if (!cursor) return readPage(list, { ...options, start: undefined, isBackward: false })
  const { name, text } = cursor
  const lengths = { order: list.order.columns.length, key: list.order.key.length }
  const position = readCursor(text, binding, lengths) ?? refuseCursor(name)
  try {
    const start = (await resolved(position, list)) ?? refuseCursor(name)
    return await readPage(list, { ...options, start, isBackward: name === 'prev_cursor' })
  } catch (error) {
    throw isUnreadable(error) ? refuseCursor(name) : error
  }
}

// The position of a cursor without the order's values is that of its row, unless these changed since. The row is read under the conditions
// of the list: otherwise a forged cursor would reveal whether a row outside the list has certain values.
async function resolved(position: CursorPosition, list: CursorList): Promise<CursorPosition | undefined> {
  const { proof, ...others } = position
  if (proof === undefined) return position
  const place = await list.placeOf(position.place)
  return place && proofOf(place) === proof ? { ...others, place } : undefined
}

function refuseCursor(name: Cursor['name'], message = 'is not a cursor of this list; begin again without it'): never {
  return invalidInput('The request does not fit its description.', [{ in: 'query', path: `/${name}`, message }])
}

/** SQLSTATE class 22, data exceptions, of PostgreSQL; on MySQL and MariaDB, a number that fits no DECIMAL. */
const UNREADABLE = /^(?:22|ER_TOO_BIG_(?:PRECISION|SCALE)$)/

// The database cannot read the values of a cursor that was forged with the key, or written before a column's type changed.
function isUnreadable(error: unknown): boolean {
  if (error instanceof ImpossibleValueError) return false // of the statement's own condition
  return error instanceof UnreadableValueError || UNREADABLE.test(codeOf(error))
}

function cursorTo(next: CursorPosition, binding: Binding, list: CursorList): string {
  const cursor = writeCursor(next, binding) ?? writeCursor(atKey(next, list), binding)
  if (cursor !== undefined) return cursor
  throw new TypeError(
    `paginate(select(${list.modelName})): the primary key of a row is too long for a cursor, of about 1000 bytes. Use the offset Paginate.`,
  )
}

function atKey(position: CursorPosition, list: CursorList): CursorPosition {
  const { place } = position
  return { ...position, place: keyAt(list.order, place), proof: proofOf(place) }
}
