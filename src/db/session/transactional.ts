import { BootError } from '../../core/boot-error.js'
import { MetadataKey } from '../../di/metadata.js'
import { checkOptions, count, fitting, milliseconds, type OptionChecks, unchecked } from '../../core/option-checks.js'
import { refuseMissingCall } from '../../core/options.js'
import { addHandlerDecorator } from '../../di/route-facts.js'
import { type Constructor, type Token, tokenName } from '../../di/token.js'

const ISOLATION = {
  'read uncommitted': 'READ UNCOMMITTED',
  'read committed': 'READ COMMITTED',
  'repeatable read': 'REPEATABLE READ',
  serializable: 'SERIALIZABLE',
} as const

/** The options of `@Transactional(options)`. */
export interface TransactionalOptions {
  /** The isolation level. Default: that of the database. */
  readonly isolation?: keyof typeof ISOLATION
  /** The database refuses writes. If there are replicas, one of them serves the request. */
  readonly readOnly?: boolean
  /**
   * Milliseconds: while the replica that would serve a `readOnly` handler lacks what was committed so long ago, the main database serves it. The lag is
   * measured on PostgreSQL; on other databases a handler with this option always uses the main database.
   */
  readonly maxLag?: number
  /**
   * How many times the handler may be run again after a serialization failure, a deadlock, or SQLITE_BUSY, also one of COMMIT. Default 0.
   * Each run has new request-scoped values and a new body.
   */
  readonly retry?: number
}

const transactionalKey = new MetadataKey<TransactionalOptions | false>()

/**
 * Sets the options of the transaction of a handler, or of every handler of a controller; `false` for no transaction.
 *
 * @throws BootError for an option that does not exist or has a wrong value. On anything but a handler, or in an app without a database, the app
 *   does not start.
 * @example
 * @Transactional({ readOnly: true })
 * @Get('/report', Report) report(session: Session) { ... }
 *
 * @Transactional({ isolation: 'serializable', retry: 5 })
 * @Post('/transfer') transfer(input: Transfer, session: Session) { ... }
 */
export function Transactional(options: TransactionalOptions | false): MethodDecorator & ClassDecorator {
  refuseMissingCall('@Transactional({ readOnly: true })', arguments)
  if (options !== false) checkTransaction(options)
  return (target: object, member?: string | symbol) => {
    transactionalKey.write(target, options, member)
    const name = `@Transactional(${options === false ? 'false' : ''})`
    const handler = member === undefined ? undefined : String(member)
    addHandlerDecorator(target, { name, member: handler, needsDatabase: options !== false })
  }
}

const OPTIONS: OptionChecks<TransactionalOptions> = {
  isolation: unchecked, // below
  readOnly: fitting((readOnly) => typeof readOnly === 'boolean', 'true or false'),
  maxLag: milliseconds('1_000'),
  retry: count,
}

function checkTransaction(options: TransactionalOptions): void {
  checkOptions('@Transactional()', options, OPTIONS)
  const { isolation, readOnly, maxLag } = options
  if (maxLag !== undefined && readOnly !== true)
    throw new BootError(
      `@Transactional(): maxLag is for handlers that replicas serve. Write @Transactional({ readOnly: true, maxLag: ${maxLag} }).`,
    )
  if (isolation !== undefined && !Object.hasOwn(ISOLATION, isolation)) {
    throw new BootError(
      `@Transactional(): there is no isolation level '${String(isolation)}'. Write one of ${Object.keys(ISOLATION).join(', ')}.`,
    )
  }
}

/** The options of a handler, else of its controller, else none. */
export function transactionalOf(controller: Constructor, member: string): TransactionalOptions | false {
  const ofMember = transactionalKey.inherited(controller.prototype, member)
  return ofMember ?? transactionalKey.inherited(controller) ?? {}
}

export function isolationText(isolation: TransactionalOptions['isolation']): string | undefined {
  return isolation && ISOLATION[isolation]
}

/** What to write in a session that a handler opens itself, instead of injecting the class. */
export const howToUseInSession = new MetadataKey<string>()

/**
 * Of classes with which handlers change rows that many others change, too: what they do with it. On distributed databases such transactions are refused as
 * conflicts, where others would wait.
 */
export const conflictsWhereDistributed = new MetadataKey<string>()

/** What a handler conflicts by on distributed databases, if it is not run again then. @param tokens all that it injects. */
export function conflictWithoutRetry(
  { retry = 0 }: TransactionalOptions,
  tokens: readonly Token[],
): string | undefined {
  if (retry > 0) return undefined
  return tokens.map((token) => conflictsWhereDistributed.own(token)).find((what) => what !== undefined)
}

/** The message for a handler with `@Transactional(false)` that injects a session. @param tokens all that it injects. */
export function sessionWithoutTransaction(handler: string, tokens: readonly Token[]): string {
  const user = tokens.find((token) => howToUseInSession.own(token) !== undefined)
  const injected = user ? `${tokenName(user)}, which needs a Session` : 'a Session (a paginator injects one, too)'
  const use = (user && howToUseInSession.own(user)) ?? '...'
  return (
    `${handler} has @Transactional(false), but injects ${injected}. ` +
    `Remove the decorator, or open sessions yourself: withSession(async (session) => { ${use} }).`
  )
}
