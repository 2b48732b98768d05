import { checkOptions, integer, type OptionChecks, unchecked } from '../../core/option-checks.js'
import { shown, isClass } from '../../core/options.js'
import { currentSession, type Session } from '../../db/session/session.js'
import { isStatement } from '../../db/statements/statement.js'
import { provideItself } from '../../di/provider.js'
import { inputDependency } from '../../http/input/parameters.js'
import { ReplyHeaders } from '../../http/output/reply.js'
import { documentPagination } from '../../http/routing/paginated.js'
import { Request } from '../../http/request.js'
import { instancesOf, pageOf, type Rows } from '../lazy-instances.js'
import { setLinks } from '../links.js'
import type { Page, PageMeta, UncountedPageMeta } from '../page.js'
import {
  type AnyStatement,
  DATABASE_OPTIONS,
  type DatabaseOptions,
  limitInput,
  limitsOf,
  notAStatement,
  sessionTokenOf,
  SIZE_OPTIONS,
  type SizeOptions,
} from '../paginator.js'
import type {
  MappedPaginationOptions,
  MappedPaginationToken,
  PaginateType,
  PaginationOptions,
  PaginationToken,
  RowMapping,
  UncountedPaginationOptions,
} from './offset-types.js'
import { OffsetList, type OffsetWindow, RawSqlList } from './offset-list.js'
import { BootError } from '../../core/boot-error.js'
import type { Constructor } from '../../di/token.js'

/** The callbacks of a paginator, as it calls them. */
interface Callbacks {
  readonly count?: ((session: Session, statement: AnyStatement) => number | Promise<number>) | false
  readonly countUpTo?: number
  readonly map?: (row: unknown) => unknown
  readonly mapPage?: (rows: readonly unknown[]) => unknown
}

/** Options that are functions, or injectable classes with a method of the option's name. */
type CallbackOptions = { readonly [N in Name]?: unknown } & Pick<Callbacks, 'countUpTo'>

const NAMES = ['count', 'map', 'mapPage'] as const
type Name = (typeof NAMES)[number]
type Callback = (...args: readonly unknown[]) => unknown

/** An option whose value is a class. Each request injects an instance. */
interface InjectedCallback {
  readonly name: Name
  readonly token: Constructor
}

/** @throws BootError for an option that is neither a function nor a class with a method of its name. */
function injectedCallbacks(options: CallbackOptions): InjectedCallback[] {
  if (options.map !== undefined && options.mapPage !== undefined)
    throw new BootError('newPagination(): map receives each row, mapPage all rows of a page. Write one of them.')
  if (options.count !== undefined && options.countUpTo !== undefined)
    throw new BootError('newPagination(): count replaces the count that countUpTo limits. Write one of them.')
  return NAMES.flatMap((name) => {
    const given = options[name]
    if (given === undefined || (name === 'count' && given === false)) return []
    if (!isCallable(given))
      throw new BootError(`newPagination(): ${name} must be ${expected(name)}, got ${shown(given)}.`)
    if (typeof Reflect.get(given.prototype ?? {}, name) === 'function')
      return { name, token: given as unknown as Constructor } // a function whose prototype has methods is a class
    if (!isClass(given)) return []
    throw new BootError(
      `newPagination(): ${name} is ${shown(given)}, which has no method '${name}'. Write ${expected(name)}.`,
    )
  })
}

function isCallable(value: unknown): value is Callback & { readonly prototype?: object } {
  return typeof value === 'function'
}

function expected(name: Name): string {
  return `a function, or an injectable class with a method '${name}'${name === 'count' ? ', or false' : ''}`
}

/** The callbacks that are functions, and the methods of the instances that a request has injected. */
function callbacksOf(
  { count, countUpTo, map, mapPage }: CallbackOptions,
  injected: readonly InjectedCallback[],
  instances: readonly object[],
): Callbacks {
  const methods = injected.map(({ name }, index) => {
    const instance = instances[index] as Record<Name, Callback> // of the class that injectedCallbacks() has checked
    return [name, (...args: readonly unknown[]) => instance[name](...args)]
  })
  return { count, countUpTo, map, mapPage, ...Object.fromEntries(methods) } as Callbacks // injectedCallbacks() has checked them
}

interface AnyPaginationOptions extends SizeOptions, DatabaseOptions, CallbackOptions {}

/** With one more, still a LIMIT that every database accepts. */
const MOST_COUNTED = 2 ** 31 - 2

const OPTIONS: OptionChecks<AnyPaginationOptions> = {
  ...SIZE_OPTIONS,
  ...DATABASE_OPTIONS,
  count: unchecked,
  countUpTo: integer('rows', 1, MOST_COUNTED),
  map: unchecked,
  mapPage: unchecked,
}

/**
 * A paginator with its own page sizes, count, or mapping of rows; or for raw SQL of another database than the first.
 *
 * @throws BootError for sizes that are not integers with 1 <= default <= max, for a count, map or mapPage that is neither a function nor a
 * class with a method of this name, and for a session that is not a class of sessions.
 * @example
 * const bigPages = newPagination({ defaultPageSize: 5, maxPageSize: 500 })
 * // list(@Inject(bigPages) paginate: PaginateType<HeroModel>) { return paginate(select(Hero)) }
 * const stickies = newPagination({ map: (row: StickyRow) => ({ id: row.id, by: row.user_name }), count: (session) => session.count(select(Sticky)) })
 * const entries = newPagination({ session: audit.Session })
 * class BigPages<T> extends newPagination({ maxPageSize: 500 })<T> {}
 * // list(paginate: BigPages<HeroModel>) { return paginate(select(Hero)) }
 * class Uncounted<T> extends newPagination({ count: false })<T> {}
 * // @Get('/', UncountedPage.of(HeroModel)) list(paginate: Uncounted<HeroModel>) { return paginate(select(Hero)) }
 */
export function newPagination(options: UncountedPaginationOptions): PaginationToken<UncountedPageMeta>
export function newPagination(options?: PaginationOptions): PaginationToken
export function newPagination<Row, T>(
  options: RowMapping<Row, T> & UncountedPaginationOptions,
): MappedPaginationToken<Row, T, UncountedPageMeta>
export function newPagination<Row, T>(options: MappedPaginationOptions<Row, T>): MappedPaginationToken<Row, T>
export function newPagination(options: AnyPaginationOptions = {}): unknown {
  checkOptions('newPagination()', options, OPTIONS)
  const limits = limitsOf(options)
  const injected = injectedCallbacks(options)
  const fixed = injected.length === 0 ? callbacksOf(options, [], []) : undefined
  const token = class Paginate {}
  provideItself(token, {
    kind: 'factory',
    lifetime: 'request',
    create: (
      session: Session,
      request: Request,
      headers: ReplyHeaders,
      offset: number,
      limit: number,
      ...instances: readonly object[]
    ) =>
      paginator({
        session,
        request,
        headers,
        window: { offset, limit },
        callbacks: fixed ?? callbacksOf(options, injected, instances),
      }),
    dependencies: [
      { kind: 'token', token: sessionTokenOf(options) },
      { kind: 'token', token: Request },
      { kind: 'token', token: ReplyHeaders },
      offsetInput(),
      limitInput(limits),
      ...injected.map(({ token }) => ({ kind: 'token', token }) as const),
    ],
  })
  documentPagination(token, { style: 'offset', parameter: 'offset' })
  // The class has no instances: what is injected for it is the function that the provider above creates.
  return token
}

/** The type of a parameter that a paginator is injected for; see the value of the same name. */
export type Paginate<T> = PaginateType<T>

/**
 * The paginator of the query parameters `offset` (from 0, default 0) and `limit` (1 to 100, default 10).
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

type AnyPage = Page<unknown, PageMeta | UncountedPageMeta>

interface PageRequest {
  readonly session: Session
  readonly request: Request
  readonly headers: ReplyHeaders
  readonly window: OffsetWindow
  readonly callbacks: Callbacks
}

function paginator({ session: injected, request, headers, window, callbacks }: PageRequest) {
  const { offset, limit } = window
  const { count, countUpTo, map, mapPage } = callbacks
  const readsOneMore = count !== undefined || countUpTo !== undefined
  // What these read must see the snapshot of the page.
  const readsMore = map !== undefined || mapPage !== undefined || countUpTo !== undefined || Boolean(count)
  const read = async (statement: AnyStatement, isLast: () => boolean): Promise<AnyPage> => {
    if (!isStatement(statement)) throw notAStatement(statement)
    const session = sessionOf(statement, injected)
    const scope = session.openPage()
    const list = statement.kind === 'sql' ? new RawSqlList(statement, session) : new OffsetList(statement, scope)
    const countOf = () =>
      count ? count(session, statement) : countUpTo === undefined ? list.count() : list.countUpTo(countUpTo)
    // Unless the database counts all rows, read one row more than the page has: the extra row says that there is a next page.
    const requested = readsOneMore ? limit + 1 : limit
    const asked = { offset, limit: requested }
    let found: Rows = await list.rows(asked, !readsOneMore, readsMore ? undefined : isLast)
    if (list instanceof OffsetList && list.lacksTotal && count !== false && !isEnd(found, offset, requested))
      found = await list.rows(asked, true) // in the transaction of its count
    const rows = found.length > limit ? found.slice(0, limit) : found
    let position: Position
    if (count === false) position = uncountedPosition(window, found.length > limit)
    else {
      const { least, most } = boundsOfTotal(found, offset, requested)
      // An estimate, or a cached count, must not end the list before its last row.
      const ends = least === most || (countUpTo !== undefined && least > countUpTo)
      const counted = ends ? least : checkedTotal(await countOf())
      const total = Math.min(Math.max(counted, least), most)
      position = countedPosition(window, total, total <= (countUpTo ?? Infinity) || least === most)
    }
    setLinks(request, headers, position.links)
    const { meta } = position
    if (mapPage) return { data: checkedRows(await mapPage(instancesOf(rows))), meta }
    return map ? { data: await Promise.all(instancesOf(rows).map((row) => map(row))), meta } : pageOf(rows, meta)
  }
  return (statement: AnyStatement) => {
    let page: Promise<AnyPage> | undefined // until read() has returned: a statement that is sent at once is not the last one
    page = read(statement, () => page !== undefined && request.result === page)
    return page
  }
}

/** The session that executes a statement: that of its model's database, if one is open. */
function sessionOf(statement: AnyStatement, injected: Session): Session {
  const { sequelize } = statement.kind === 'select' ? statement.model : injected
  return (sequelize && sequelize !== injected.sequelize && currentSession(sequelize)) || injected
}

/** The bounds of the total that follow from the rows that were read from an offset: if these are less than `requested`, the list ends with them. */
function boundsOfTotal(read: Rows, offset: number, requested: number) {
  if (read.length === 0) return { least: 0, most: offset }
  const least = offset + read.length
  return { least, most: read.length < requested ? least : Infinity }
}

/** Whether the rows that were read tell the total. */
function isEnd(read: Rows, offset: number, requested: number): boolean {
  const { least, most } = boundsOfTotal(read, offset, requested)
  return least === most
}

function checkedTotal(total: number): number {
  if (Number.isSafeInteger(total) && total >= 0) return total
  if (total > Number.MAX_SAFE_INTEGER)
    throw new TypeError(
      `A page has ${total} rows in all, more than JSON can represent exactly. Use a cursor page, or newPagination({ count }).`,
    )
  throw new TypeError(
    `newPagination({ count }): count returned ${String(total)}. Return the number of all rows, an integer from 0.`,
  )
}

function checkedRows(rows: unknown): unknown[] {
  if (Array.isArray(rows)) return rows
  throw new TypeError(
    `newPagination({ mapPage }): mapPage returned ${shown(rows)}. Return the list of records of the page.`,
  )
}

/** Where a page is in its list, and the other pages by their relation to it. */
interface Position {
  readonly meta: PageMeta | UncountedPageMeta
  readonly links: Parameters<typeof setLinks>[2]
}

/** `total_pages = ceil(total / limit)`, `page_number = floor(offset / limit) + 1`: specification, "Offset page". */
function countedPosition({ offset, limit }: OffsetWindow, total: number, isWhole: boolean): Position {
  const total_pages = Math.ceil(total / limit)
  // The largest offset, with pages of one row, would have a number that JSON readers cannot represent.
  const page_number = Math.min(Math.floor(offset / limit) + 1, Number.MAX_SAFE_INTEGER)
  const last = Math.max(total_pages - 1, 0) * limit
  return {
    meta: { offset, total_items: total, total_pages, page_number },
    links: {
      first: { offset: 0, limit },
      prev: offset > 0 ? { offset: Math.max(Math.min(offset - limit, last), 0), limit } : undefined,
      next: offset + limit < total ? { offset: offset + limit, limit } : undefined,
      last: isWhole ? { offset: last, limit } : undefined,
    },
  }
}

/** In a list that is not counted. */
function uncountedPosition({ offset, limit }: OffsetWindow, has_next: boolean): Position {
  return {
    meta: { offset, has_next },
    links: {
      first: { offset: 0, limit },
      prev: offset > 0 ? { offset: Math.max(offset - limit, 0), limit } : undefined,
      next: has_next ? { offset: offset + limit, limit } : undefined,
    },
  }
}
