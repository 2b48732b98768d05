import { MetadataKey } from '../di/metadata.js'
import type { Constructor } from '../di/token.js'

const ISOLATION = {
  'read uncommitted': 'READ UNCOMMITTED',
  'read committed': 'READ COMMITTED',
  'repeatable read': 'REPEATABLE READ',
  serializable: 'SERIALIZABLE',
} as const

export interface TransactionalOptions {
  /** How far transactions are kept apart; by default what the database does by default. */
  readonly isolation?: keyof typeof ISOLATION
  /** Writes are refused by the database. */
  readonly readOnly?: boolean
}

const transactionalKey = new MetadataKey<TransactionalOptions | false>('transactional')

/**
 * Says what transaction a handler, or every handler of a controller, runs in; `false` for none.
 *
 * @example
 * @Transactional({ readOnly: true })
 * @Get('/report', Report) report(session: Session) { ... }
 */
export function Transactional(options: TransactionalOptions | false): MethodDecorator & ClassDecorator {
  return (target: object, member?: string | symbol) =>
    transactionalKey.write(target, options, member as string | undefined)
}

/** What was said of a handler, else of its controller. */
export function transactionalOf(controller: Constructor, member: string): TransactionalOptions | false {
  const ofMember = transactionalKey.inherited(controller.prototype as object, member)
  return ofMember ?? transactionalKey.inherited(controller) ?? {}
}

export function isolationText(isolation: TransactionalOptions['isolation']): string | undefined {
  return isolation && ISOLATION[isolation]
}
