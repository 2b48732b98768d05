import { BootError } from '../../core/boot-error.js'
import { type OptionNames, refuseUnknownOptions } from '../../core/options.js'
import type { Session } from '../../db/session/session.js'
import { provideItself } from '../../di/provider.js'
import { inputDependency } from '../../http/input/parameters.js'
import { ReplyHeaders } from '../../http/output/reply.js'
import { Request } from '../../http/request.js'
import { instancesOf, pageOf } from '../lazy-instances.js'
import { limitInput, limitsOf, SIZE_OPTIONS } from '../limits.js'
import { setLinks } from '../links.js'
import { listOf } from '../list.js'
import { offsetOrder } from '../list-order.js'
import type { Page } from '../page.js'
import { DATABASE_OPTIONS, sessionFor, sessionTokenOf } from '../paginator-session.js'
import type {
  AnyStatement,
  MappedPaginationOptions,
  MappedPaginationToken,
  PaginateType,
  PaginationOptions,
  PaginationToken,
} from './offset-types.js'
import { metaOf, neighboursOf, type OffsetWindow, totalShownBy } from './page-numbers.js'
import { RawSqlList } from './raw-sql-list.js'

interface AnyPaginationOptions extends PaginationOptions {
  map?(row: unknown): unknown
}

const OPTIONS: OptionNames<AnyPaginationOptions> = { ...SIZE_OPTIONS, ...DATABASE_OPTIONS, count: true, map: true }

/**
 * A paginator with its own page sizes, count, or mapping of rows; or for raw SQL of another database than the first.
 *
 * @throws BootError for sizes that are not integers with 1 <= default <= max, for a count or map that is not a function, and for a
 * session that is not a class of sessions.
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
  refuseUnknownOptions('newPagination()', options, OPTIONS)
  const limits = limitsOf(options)
  refuseOtherThanFunctions(options)
  const token = class Paginate {}
  provideItself(token, {
    kind: 'factory',
    lifetime: 'request',
    create: (session: Session, request: Request, headers: ReplyHeaders, offset: number, limit: number) =>
      paginator({ session, request, headers, window: { offset, limit }, options }),
    dependencies: [
      { kind: 'token', token: sessionTokenOf(options) },
      { kind: 'token', token: Request },
      { kind: 'token', token: ReplyHeaders },
      offsetInput(),
      limitInput(limits),
    ],
  })
  // The class has no instances: what is injected for it is the function that the provider above creates.
  return token
}

function refuseOtherThanFunctions(options: AnyPaginationOptions): void {
  for (const name of ['count', 'map'] as const)
    if (options[name] !== undefined && typeof options[name] !== 'function')
      throw new BootError(`newPagination(): ${name} must be a function, got ${String(options[name])}.`)
}

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

interface PageRequest {
  readonly session: Session
  readonly request: Request
  readonly headers: ReplyHeaders
  readonly window: OffsetWindow
  readonly options: AnyPaginationOptions
}

function paginator({ session: injected, request, headers, window, options }: PageRequest) {
  return async (statement: AnyStatement): Promise<Page<unknown>> => {
    const session = sessionFor(statement, injected)
    session.readOneSnapshot()
    const list = statement.kind === 'sql' ? new RawSqlList(statement, session) : listOf(statement, offsetOrder)
    const rows: unknown[] = await list.rows(window)
    const total = options.count
      ? checkedTotal(await options.count(session, statement))
      : (totalShownBy(rows, window) ?? (await list.count()))
    setLinks(request, headers, neighboursOf(total, window))
    const meta = metaOf(total, window)
    return options.map
      ? { data: await Promise.all(instancesOf(rows).map((row) => options.map?.(row))), meta }
      : pageOf(rows, meta)
  }
}

function checkedTotal(total: number): number {
  if (Number.isSafeInteger(total) && total >= 0) return total
  throw new TypeError(
    `newPagination({ count }): count returned ${String(total)}. Return the number of all rows, an integer from 0.`,
  )
}
