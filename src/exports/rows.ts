import type { Model } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { checkOptions, flag, integer, type OptionChecks, typed } from '../core/option-checks.js'
import { LONGEST, type OptionNames, refuseUnknownOptions, shown } from '../core/options.js'
import type { Database } from '../db/database.js'
import { RowReader } from '../db/session/row-reader.js'
import { isStatement, type Select, type Sql } from '../db/statements/statement.js'
import { HttpError } from '../http/errors.js'
import type { Request } from '../http/request.js'
import { disposition } from '../http/output/file.js'
import { checkedHeaders, refuseEncoding } from '../http/output/respond.js'
import type { OutgoingResponse } from '../http/output/outgoing-response.js'
import { Reply, type ReplyHeaderValues } from '../http/output/reply.js'
import type { DeclaredStream, ItemStream, StreamRequest } from '../http/output/declared-stream.js'
import type { DataOf, Shape } from '../schema/shape/shape.js'
import { preferredMedia } from '../http/output/accept.js'
import { formatsOf, MEDIA_TYPES } from './formats.js'
import { type ExportLimits, RowStream } from './row-stream.js'

/** The options of `Rows.of(HeroRow, options)`. */
export interface RowsOptions {
  /**
   * How many exports of the database, of all routes, may run when one of this route begins; more are a 503. Default: a quarter of the pool, and at least 1.
   * Each holds a connection as long as its client reads.
   */
  readonly atOnce?: number
  /** Milliseconds over which `leastRate` is measured, and in which a client must read at least 64 KiB. Default 60000. */
  readonly clientTimeout?: number
  /**
   * Bytes per second that a client must read, on average over `clientTimeout`; otherwise the connection is reset. Time in which the database reads rows does not
   * count. Default 8192. 0: 64 KiB within each `clientTimeout` are enough.
   */
  readonly leastRate?: number
  /** Milliseconds in which a client must read all rows; otherwise the connection is reset. Default 1800000, half an hour. */
  readonly timeout?: number
  /**
   * Who the client is, for `perClient`: `(request) => userOf(request.headers.authorization)`. Default: clients are not distinguished, and one may run all
   * exports that `atOnce` allows.
   */
  readonly of?: (request: Request) => string
  /** How many exports of one client may run when one of this route begins; more are a 429. Default 1; requires `of`. */
  readonly perClient?: number
  /** Whether a cell of CSV that a spreadsheet would calculate, such as `=1+1`, begins with an apostrophe. Default false: cells have the exact text. */
  readonly spreadsheets?: boolean
}

const MOST_AT_ONCE = 10_000
const MOST_RATE = Number.MAX_SAFE_INTEGER

const OPTIONS: OptionChecks<RowsOptions> = {
  atOnce: integer('exports', 1, MOST_AT_ONCE),
  clientTimeout: integer('milliseconds', 1, LONGEST),
  leastRate: integer('bytes per second', 0, MOST_RATE),
  timeout: integer('milliseconds', 1, LONGEST),
  of: typed('function', 'a function of the request, such as (request) => userOf(request)'),
  perClient: integer('exports', 1, MOST_AT_ONCE),
  spreadsheets: flag,
}

/** The options of `rows(statement, options)`. */
export interface RowsReplyOptions {
  /** The name of a file, without its extension: a browser saves it as `heroes.csv`. */
  readonly name?: string
  readonly headers?: ReplyHeaderValues
  /** The database of a `sql` statement, if the handler has sessions of several. */
  readonly database?: Database
}

const REPLY_OPTIONS: OptionNames<RowsReplyOptions> = { name: true, headers: true, database: true }

/** Exists only at compile time. */
declare const typeOfRows: unique symbol

/** All rows of a statement, each of this type: the result of {@link rows}. */
export interface Rows<T> {
  readonly [typeOfRows]: T
}

const CLIENT_TIMEOUT = 60_000
/** Bytes per second: a mobile network of the second generation has more. */
const LEAST_RATE = 8_192
const TIMEOUT = 1_800_000

/**
 * The response of a route that sends all rows of a statement, as NDJSON, as one JSON array, or as CSV: by the header `Accept`.
 *
 * @throws BootError for an unknown option.
 * @example
 * @Get('/export', Rows.of(HeroRow)) export() { return rows(select(Hero, { order: ['id'] })) }
 */
export const Rows = {
  of<const S>(declaration: S, options: RowsOptions = {}): DeclaredStream<Rows<DataOf<S>>> {
    checkRowsOptions(options)
    return { shape: refuseAsShape, stream: new RowsOf(declaration, options) }
  },
}

function checkRowsOptions(options: RowsOptions): void {
  checkOptions('Rows.of()', options, OPTIONS)
  if (options.perClient !== undefined && !options.of)
    throw new BootError(
      'Rows.of(): perClient requires `of`, which says who the client is: of: (request) => userOf(request).',
    )
}

function refuseAsShape(): never {
  throw new BootError(
    `Rows.of() is only the response of a route: @Get('/export', Rows.of(HeroRow)). Nothing can contain it, and 'responses' cannot list it.`,
  )
}

class RowsOf implements ItemStream {
  readonly of: unknown
  readonly media: ItemStream['media'] = {
    'application/x-ndjson': 'text',
    'application/json': 'array',
    'text/csv': 'text',
  }
  readonly description =
    'All rows: as JSON lines, one JSON array, or CSV with a line of names; a row has the schema x-item. A response that does not end is not complete'
  readonly refusals: Readonly<Record<number, string>>
  readonly #options: RowsOptions

  constructor(declaration: unknown, options: RowsOptions) {
    this.of = declaration
    this.#options = options
    const notAcceptable = { 406: `The header Accept allows none of ${MEDIA_TYPES.join(', ')}` }
    this.refusals = options.of
      ? { ...notAcceptable, 429: 'Too many exports of this client are running' }
      : notAcceptable
  }

  compile(item: Shape, name: string): (value: unknown, request: StreamRequest) => OutgoingResponse {
    const { clientTimeout = CLIENT_TIMEOUT, leastRate = LEAST_RATE, timeout = TIMEOUT } = this.#options
    const { atOnce, of, perClient = 1, spreadsheets = false } = this.#options
    const formatOf = formatsOf(item, name, spreadsheets)
    return (value, request) => {
      const { headers, id } = request
      if (!(value instanceof RowsReply)) throw new TypeError(notRows(name, value))
      const media = preferredMedia(headers.accept, MEDIA_TYPES)
      if (media === undefined) throw new HttpError(406, `This is sent as ${MEDIA_TYPES.join(', ')}.`, { headers: VARY })
      const given = checkedHeaders(value.headers, name)
      refuseEncoding(name, given)
      const format = formatOf(media)
      const ofClient = of && { client: clientOf(of(request), name), most: perClient }
      const limits: ExportLimits = { atOnce, clientTimeout, leastRate, timeout, ofClient }
      return {
        status: 200,
        headers: { ...VARY, 'content-type': format.contentType, ...value.headersFor(format.extension, given) },
        body: () => new RowStream(value.reader, format, limits, id),
      }
    }
  }
}

// Programs without a type check may return a promise, which would make all clients one.
function clientOf(client: unknown, name: string): string {
  if (typeof client === 'string') return client
  throw new TypeError(`${name}: the function \`of\` of Rows.of() returned ${shown(client)}. Return a string.`)
}

const VARY = { vary: 'Accept' }

function notRows(name: string, value: unknown): string {
  return `${name} declares rows, but returned ${shown(value)}. Write return rows(select(Hero)).`
}

/** A reply whose rows are read when it is sent. */
class RowsReply<T> extends Reply<Rows<T>> {
  readonly reader: RowReader
  readonly #name: string | undefined

  constructor(reader: RowReader, name: string | undefined, headers: ReplyHeaderValues = {}) {
    super(undefined, { headers })
    this.reader = reader
    this.#name = name
  }

  headersFor(extension: string, given: ReplyHeaderValues): ReplyHeaderValues {
    const name = this.#name
    return name === undefined ? given : { 'content-disposition': disposition(`${name}.${extension}`), ...given }
  }
}

/**
 * Sends all rows of a statement, however many they are: they are read by a cursor, a batch when the client has taken the one before it.
 *
 * They are read after COMMIT of the handler, in a read-only transaction of their own, which has one snapshot. An error before the first row has its
 * status; a later one breaks the connection, so that no client takes a part for the whole. `timeouts.handler` ends when the handler returns.
 *
 * @throws TypeError for anything but a statement; Error outside of a session.
 * @example
 * @Get('/export', Rows.of(HeroRow)) export(team: string) { return rows(select(Hero, { where: { team }, order: ['id'] })) }
 */
export function rows<M extends Model>(statement: Select<M>, options?: RowsReplyOptions): Reply<Rows<M>>
export function rows<Row>(statement: Sql<Row>, options?: RowsReplyOptions): Reply<Rows<Row>>
export function rows(
  statement: Select<Model> | Sql<unknown>,
  { name, headers, database, ...others }: RowsReplyOptions = {},
): Reply<Rows<unknown>> {
  refuseUnknownOptions('rows()', others, REPLY_OPTIONS)
  // Programs without a type check may pass a model, a list, or text.
  if (!isStatement(statement))
    throw new TypeError(
      `rows() takes a statement, got ${shown(statement)}. Write rows(select(Hero)) or rows(sql\`SELECT ...\`).`,
    )
  return new RowsReply(new RowReader(statement, database), name, headers)
}
