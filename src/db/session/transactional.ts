import { BootError } from '../../core/boot-error.js'
import { MetadataKey } from '../../di/metadata.js'
import { type OptionNames, refuseUnknownOptions, shown } from '../../core/options.js'
import type { Constructor } from '../../di/token.js'

const ISOLATION = {
  'read uncommitted': 'READ UNCOMMITTED',
  'read committed': 'READ COMMITTED',
  'repeatable read': 'REPEATABLE READ',
  serializable: 'SERIALIZABLE',
} as const

export interface TransactionalOptions {
  /** How far transactions are kept apart; by default what the database does by default. */
  readonly isolation?: keyof typeof ISOLATION
  /** Writes are refused by the database. Served by a replica, where there is one. */
  readonly readOnly?: boolean
  /**
   * How many times the whole handler may be run again when another transaction was in the way: serialization failures, deadlocks,
   * a busy SQLite; also when COMMIT says so. Each run has fresh request-scoped values and a fresh body.
   */
  readonly retry?: number
}

const transactionalKey = new MetadataKey<TransactionalOptions | false>('transactional')

/**
 * Says what transaction a handler, or every handler of a controller, runs in; `false` for none.
 *
 * @throws BootError for an isolation that does not exist, or a retry that is not a number of times.
 * @example
 * @Transactional({ readOnly: true })
 * @Get('/report', Report) report(session: Session) { ... }
 *
 * @Transactional({ isolation: 'serializable', retry: 5 })
 * @Post('/transfer') transfer(input: Transfer, session: Session) { ... }
 */
export function Transactional(options: TransactionalOptions | false): MethodDecorator & ClassDecorator {
  if (options !== false) refuseNonsense(options)
  return (target: object, member?: string | symbol) =>
    transactionalKey.write(target, options, member as string | undefined)
}

const OPTIONS: OptionNames<TransactionalOptions> = { isolation: true, readOnly: true, retry: true }

function refuseNonsense(options: TransactionalOptions): void {
  refuseUnknownOptions('@Transactional()', options, OPTIONS)
  const { isolation, readOnly, retry } = options
  if (readOnly !== undefined && typeof readOnly !== 'boolean')
    throw new BootError(`@Transactional(): readOnly is ${shown(readOnly)}. Write true or false.`)
  if (isolation !== undefined && !Object.hasOwn(ISOLATION, isolation)) {
    throw new BootError(
      `@Transactional(): there is no isolation '${String(isolation)}'. Write one of ${Object.keys(ISOLATION).join(', ')}.`,
    )
  }
  if (retry !== undefined && !(Number.isInteger(retry) && retry >= 0)) {
    throw new BootError(`@Transactional(): retry is a whole number from 0, got ${String(retry)}.`)
  }
}

/** What was said of a handler, else of its controller. */
export function transactionalOf(controller: Constructor, member: string): TransactionalOptions | false {
  const ofMember = transactionalKey.inherited(controller.prototype as object, member)
  return ofMember ?? transactionalKey.inherited(controller) ?? {}
}

export function isolationText(isolation: TransactionalOptions['isolation']): string | undefined {
  return isolation && ISOLATION[isolation]
}
