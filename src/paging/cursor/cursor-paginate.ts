import { literal, type Model } from 'sequelize'
import { codeOf } from '../../db/dialect.js'
import { type Find, toFind } from '../../db/statements/find.js'
import type { Session } from '../../db/session/session.js'
import type { Select } from '../../db/statements/statement.js'
import { BootError } from '../../core/boot-error.js'
import { type OptionNames, refuseUnknownOptions } from '../../core/options.js'
import { provideItself } from '../../di/provider.js'
import type { Yields } from '../../di/token.js'
import { invalidInput } from '../../http/errors.js'
import { inputDependency } from '../../http/input/parameters.js'
import { ReplyHeaders } from '../../http/output/reply.js'
import { Request } from '../../http/request.js'
import type { CursorPosition } from './cursor-body.js'
import { type Binding, CURSOR_LENGTH, proofOf, readCursor, signatureOf, writeCursor } from './cursor.js'
import { DATABASE_OPTIONS, type DatabaseOptions, sessionFor, sessionTokenOf } from '../which-database.js'
import { atPlaces, type OrderColumn, type Place, rangesAfter } from '../keyset.js'
import { limitInput, limitsOf, SIZE_OPTIONS, type SizeOptions } from '../limits.js'
import { setLinks } from '../links.js'
import { type ColumnCodec, columnCodecOf, UnreadableValueError } from '../column-codec.js'
import { keyColumns, orderColumns } from '../order.js'
import type { CursorPage } from '../page.js'
import { refuseUnpageable } from '../refuse-unpageable.js'
import { CursorKey } from './cursor-key.js'
import { comesInParts, type Placed, readPlaces, readRows, readRowsAt, type Window } from '../rows.js'
import { pageOf, type Row } from '../lazy-instances.js'

/** A paginator: gives the page of a statement that follows the client's cursor. */
export interface CursorPaginateType<T> {
  <M extends Model & T>(statement: Select<M>): Promise<CursorPage<T>>
}

export type CursorPaginate<T> = CursorPaginateType<T>

/** What stands for a paginator: a parameter's type, a base class, or the argument of `@Inject`. */
// any: which rows it pages is said where it is asked for, Paginate<HeroModel>.
// oxlint-disable typescript/no-explicit-any
export interface CursorPaginationToken extends Yields<CursorPaginateType<any>> {
  new <T = any>(): CursorPaginateType<T>
}
// oxlint-enable typescript/no-explicit-any

/** A paginator's own sizes, and its own database. */
export interface CursorPaginationOptions extends SizeOptions, DatabaseOptions {}

/** What `CursorPaginationOptions` has. */
const OPTIONS: OptionNames<CursorPaginationOptions> = { ...SIZE_OPTIONS, ...DATABASE_OPTIONS }

/**
 * A paginator by cursor with sizes of its own.
 *
 * @throws BootError for sizes that are not whole numbers with 1 <= default <= max.
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
      session: Session,
      key: CursorKey,
      request: Request,
      headers: ReplyHeaders,
      limit: number,
      cursor: string | undefined,
    ) => cursorPaginator({ session, key: key.value, request, headers, limit, cursor }),
    dependencies: [
      { kind: 'token', token: sessionTokenOf(options) },
      { kind: 'token', token: CursorKey },
      { kind: 'token', token: Request },
      { kind: 'token', token: ReplyHeaders },
      limitInput(limits),
      cursorInput(),
    ],
  })
  // Nothing is ever built by `new`: the provider above makes the function that the type speaks of.
  return token as unknown as CursorPaginationToken
}

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

interface Asked {
  readonly session: Session
  readonly key: string
  readonly request: Request
  readonly headers: ReplyHeaders
  readonly limit: number
  readonly cursor: string | undefined
}

function cursorPaginator(asked: Asked) {
  return async (statement: Select<Model>): Promise<CursorPage<unknown>> => {
    const list = toList(sessionFor(statement, asked.session), statement)
    const binding = { key: asked.key, list: signatureOf(list.find, list.columns, list.notation) }
    const mark = asked.cursor === undefined ? undefined : markOf(list, asked.cursor, binding)
    const { rows, next } = await readPage(list, mark, asked.limit).catch((error: unknown) => {
      throw mark && isUnreadable(error) ? refuseCursor() : error
    })
    const next_cursor = next ? cursorTo(next, binding, list) : null
    const { request, headers, limit } = asked
    setLinks(request, headers, { next: next_cursor === null ? undefined : { limit, next_cursor } })
    return pageOf(rows, { next_cursor })
  }
}

/** A statement, and the order that its rows have. */
interface List {
  readonly find: Find
  readonly columns: readonly OrderColumn[]
  readonly notation: ColumnCodec
}

function toList({ sequelize }: Session, statement: Select<Model>): List {
  if (statement.kind !== 'select')
    throw new BootError(
      'paginate(sql`...`): a cursor page needs to know its order, which a text does not tell. Write paginate(select(Model, { order })), or use the offset Paginate.',
    )
  const find = toFind(statement)
  refuseUnpageable(find)
  const notation = columnCodecOf(sequelize.getDialect())
  return { find, notation, columns: orderColumns(find, notation) }
}

function markOf({ columns, find }: List, cursor: string, binding: Binding): CursorPosition {
  const lengths = { order: columns.length, key: find.model.primaryKeyAttributes.length }
  return readCursor(cursor, binding, lengths) ?? refuseCursor()
}

function refuseCursor(): never {
  return invalidInput('The request does not fit its description.', [
    { in: 'query', path: '/next_cursor', message: 'is not a cursor of this list; begin again without it' },
  ])
}

/** PostgreSQL's class of data exceptions; what MySQL says of a number that no DECIMAL of it can be. */
const UNREADABLE = /^(?:22|ER_TOO_BIG_(?:PRECISION|SCALE)$)/

// Made by someone who has the key, or before a column got another type: the database cannot read its values.
function isUnreadable(error: unknown): boolean {
  return error instanceof UnreadableValueError || UNREADABLE.test(codeOf(error))
}

interface Slice {
  readonly rows: Row[]
  /** Where the next page begins; undefined at the end. */
  readonly next: CursorPosition | undefined
}

async function readPage(list: List, mark: CursorPosition | undefined, limit: number): Promise<Slice> {
  const start = mark?.proof === undefined ? mark : { ...mark, place: await placeOfRow(list, mark) }
  const inParts = comesInParts(list.find)
  // One more than the page has: it only says that there is a next page.
  const read = inParts
    ? await readRanges(list, start, limit + 1, placesIn)
    : await readRanges(list, start, limit + 1, rowsIn)
  const page = read.slice(0, limit)
  const next = read.length > limit ? markAt(page.map(({ place }) => place)) : undefined
  return { rows: inParts ? await wholeRows(list, page) : (page as Placed<Row>[]).map(({ row }) => row), next }
}

function markAt(places: readonly Place[]): CursorPosition {
  const [first, last] = [places[0] as Place, places.at(-1) as Place] // no page has less than one row
  const changes = first.findIndex((value, index) => value !== last[index])
  return { place: last, shared: changes < 0 ? last.length - 1 : changes }
}

type ReadRange = (list: List, stretch: Window) => Promise<Placed<Row | undefined>[]>

async function readRanges(list: List, start: CursorPosition | undefined, count: number, read: ReadRange) {
  const { columns, notation } = list
  const rows: Placed<Row | undefined>[] = []
  if (!start) return read(list, { order: orderOf(columns), limit: count })
  for (const { condition, order } of rangesAfter(columns, start.place, start.shared, notation)) {
    const limit = count - rows.length
    if (limit > 0) rows.push(...(await read(list, { order: orderOf(order), limit, after: condition })))
  }
  return rows
}

const rowsIn: ReadRange = ({ find, columns, notation }, stretch) => readRows(find, columns, notation, stretch)

const placesIn: ReadRange = async ({ find, columns, notation }, stretch) => {
  const group = columns.map(({ sql }) => sql)
  const places = await readPlaces(find, columns, notation, stretch, group)
  return places.map((place) => ({ row: undefined, place }))
}

function orderOf(columns: readonly OrderColumn[]) {
  return columns.map(({ sql, direction }) => literal(`${sql} ${direction}`))
}

function wholeRows(list: List, page: readonly Placed<unknown>[]): Promise<Model[]> {
  const places = page.map(({ place }) => keyOf(list, place))
  return readRowsAt(list.find, keyColumns(list.find.model, list.notation), list.notation, places)
}

function keyOf({ find, columns, notation }: List, place: Place): Place {
  return keyColumns(find.model, notation).map(
    ({ sql }) => place[columns.findIndex((column) => column.sql === sql)] ?? null,
  )
}

// Values that are too long for a cursor are those of the row that the page ended with, as long as it stays as it is. It is read under the
// conditions of the list: otherwise a forged proof would show whether a row outside of the list has certain values.
async function placeOfRow({ find, columns, notation }: List, { place, proof }: CursorPosition): Promise<Place> {
  const after = atPlaces(keyColumns(find.model, notation), [place], notation)
  const order = orderOf(columns)
  const group = columns.map(({ sql }) => sql)
  const [found] = await readPlaces(find, columns, notation, { order, limit: 1, after }, group)
  return found && proofOf(found) === proof ? found : refuseCursor()
}

function cursorTo(next: CursorPosition, binding: Binding, list: List): string {
  const cursor = writeCursor(next, binding) ?? writeCursor(toKey(list, next), binding)
  if (cursor !== undefined) return cursor
  throw new TypeError(`paginate(select(${list.find.model.name})): the primary key is too long for a cursor.`)
}

function toKey(list: List, { place, shared }: CursorPosition): CursorPosition {
  return { place: keyOf(list, place), shared, proof: proofOf(place) }
}

/**
 * The paginator of the query's `limit` (1 to 100, default 10) and `next_cursor`. The statement needs an order.
 *
 * @example
 * @Get('/', Page.of(HeroModel)) list(paginate: Paginate<HeroModel>) { return paginate(select(Hero, { order: [['age', 'DESC'], 'name'] })) }
 */
export const CursorPaginate: CursorPaginationToken = newCursorPagination()
