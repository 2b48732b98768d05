import type { Model } from 'sequelize'
import { BootError } from '../../core/boot-error.js'
import { type OptionNames, refuseUnknownOptions } from '../../core/options.js'
import { codeOf } from '../../db/dialect.js'
import type { Session } from '../../db/session/session.js'
import type { Select, Sql } from '../../db/statements/statement.js'
import { provideItself } from '../../di/provider.js'
import type { Yields } from '../../di/token.js'
import { invalidInput } from '../../http/errors.js'
import { inputDependency } from '../../http/input/parameters.js'
import { ReplyHeaders } from '../../http/output/reply.js'
import { Request } from '../../http/request.js'
import { UnreadableValueError } from '../column-codec.js'
import { pageOf } from '../lazy-instances.js'
import { limitInput, limitsOf, SIZE_OPTIONS, type SizeOptions } from '../limits.js'
import { setLinks } from '../links.js'
import { type List, listOf } from '../list.js'
import { cursorOrder } from '../list-order.js'
import type { CursorPage } from '../page.js'
import { DATABASE_OPTIONS, type DatabaseOptions, sessionTokenOf } from '../paginator-session.js'
import type { CursorPosition } from './cursor-body.js'
import { CursorKey } from './cursor-key.js'
import { type Binding, CURSOR_LENGTH, proofOf, readCursor, signatureOf, writeCursor } from './cursor.js'
import { type PageRows, readPage } from './read-page.js'

/** A paginator: reads the page of a statement that follows the client's cursor. `T` is the type of the page's rows. */
export interface CursorPaginateType<T> {
  <M extends Model & T>(statement: Select<M>): Promise<CursorPage<T>>
}

export type CursorPaginate<T> = CursorPaginateType<T>

/** The token of a paginator: a parameter's type, a base class, or the argument of `@Inject`. */
// any: the type of the rows is given where a paginator is injected, Paginate<HeroModel>.
// oxlint-disable typescript/no-explicit-any
export interface CursorPaginationToken extends Yields<CursorPaginateType<any>> {
  new <T = any>(): CursorPaginateType<T>
}
// oxlint-enable typescript/no-explicit-any

/** The page sizes and the database of a paginator. */
export interface CursorPaginationOptions extends SizeOptions, DatabaseOptions {}

const OPTIONS: OptionNames<CursorPaginationOptions> = { ...SIZE_OPTIONS, ...DATABASE_OPTIONS }

/**
 * A paginator by cursor with its own page sizes.
 *
 * @throws BootError for sizes that are not integers with 1 <= default <= max, and for a session that is not a class of sessions.
 * @example
 * class BigPages<T> extends newPagination({ defaultPageSize: 5, maxPageSize: 500 })<T> {}
 * // list(paginate: BigPages<HeroModel>) { return paginate(select(Hero, { order: [['age', 'DESC']] })) }
 */
export function newCursorPagination(options: CursorPaginationOptions = {}): CursorPaginationToken {
  refuseUnknownOptions('newPagination()', options, OPTIONS)
  const limits = limitsOf(options)
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
      cursor: string | undefined,
    ) => cursorPaginator({ key: key.value, request, headers, limit, cursor }),
    dependencies: [
      // Unused: a request with a session has the transaction that queries of models join.
      { kind: 'token', token: sessionTokenOf(options) },
      { kind: 'token', token: CursorKey },
      { kind: 'token', token: Request },
      { kind: 'token', token: ReplyHeaders },
      limitInput(limits),
      cursorInput(),
    ],
  })
  // The class has no instances: what is injected for it is the function that the provider above creates.
  return token as unknown as CursorPaginationToken
}

/**
 * The paginator of the query parameters `limit` (1 to 100, default 10) and `next_cursor`. The statement needs an order.
 *
 * @example
 * @Get('/', Page.of(HeroModel)) list(paginate: Paginate<HeroModel>) { return paginate(select(Hero, { order: [['age', 'DESC'], 'name'] })) }
 */
export const CursorPaginate: CursorPaginationToken = newCursorPagination()

function cursorInput() {
  return inputDependency('query', {
    name: 'next_cursor',
    type: 'string',
    minLength: 1,
    maxLength: CURSOR_LENGTH - 1,
    optional: true,
    description: "The last page's meta.next_cursor; without it the first page is sent.",
  })
}

interface PageRequest {
  readonly key: string
  readonly request: Request
  readonly headers: ReplyHeaders
  readonly limit: number
  readonly cursor: string | undefined
}

function cursorPaginator({ key, request, headers, limit, cursor }: PageRequest) {
  return async (statement: Select<Model>): Promise<CursorPage<unknown>> => {
    refuseRawSql(statement)
    const list = listOf(statement, cursorOrder)
    const binding = { key, list: signatureOf(list) }
    const { rows, next } =
      cursor === undefined ? await readPage(list, undefined, limit) : await readPageAt(cursor, binding, list, limit)
    const next_cursor = next ? cursorTo(next, binding, list) : null
    setLinks(request, headers, { next: next_cursor === null ? undefined : { limit, next_cursor } })
    return pageOf(rows, { next_cursor })
  }
}

function refuseRawSql({ kind }: Select<Model> | Sql): void {
  if (kind !== 'select')
    throw new BootError(
      'paginate(sql`...`): a cursor page needs a known order, which raw SQL does not declare. Write paginate(select(Model, { order })), or use the offset Paginate.',
    )
}

async function readPageAt(cursor: string, binding: Binding, list: List, limit: number): Promise<PageRows> {
  const position =
    readCursor(cursor, binding, { order: list.order.columns.length, key: list.order.key.length }) ?? refuseCursor()
  try {
    return await readPage(list, await resolved(position, list), limit)
  } catch (error) {
    throw isUnreadable(error) ? refuseCursor() : error
  }
}

// The position of a cursor without the order's values is that of its row, unless these changed since. The row is read under the conditions
// of the list: otherwise a forged cursor would reveal whether a row outside the list has certain values.
async function resolved(position: CursorPosition, list: List): Promise<CursorPosition> {
  if (position.proof === undefined) return position
  const place = await list.placeOf(position.place)
  return place && proofOf(place) === position.proof ? { place, shared: position.shared } : refuseCursor()
}

function refuseCursor(): never {
  return invalidInput('The request does not fit its description.', [
    { in: 'query', path: '/next_cursor', message: 'is not a cursor of this list; begin again without it' },
  ])
}

/** SQLSTATE class 22, data exceptions, of PostgreSQL; on MySQL and MariaDB, a number that fits no DECIMAL. */
const UNREADABLE = /^(?:22|ER_TOO_BIG_(?:PRECISION|SCALE)$)/

// The database cannot read the values of a cursor that was forged with the key, or written before a column's type changed.
function isUnreadable(error: unknown): boolean {
  return error instanceof UnreadableValueError || UNREADABLE.test(codeOf(error))
}

function cursorTo(next: CursorPosition, binding: Binding, list: List): string {
  const cursor = writeCursor(next, binding) ?? writeCursor(atKey(next, list), binding)
  if (cursor !== undefined) return cursor
  throw new TypeError(
    `paginate(select(${list.find.model.name})): the primary key of a row is too long for a cursor, of about 1000 bytes. Use the offset Paginate.`,
  )
}

function atKey({ place, shared }: CursorPosition, list: List): CursorPosition {
  return { place: list.keyAt(place), shared, proof: proofOf(place) }
}
