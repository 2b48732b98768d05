import type { PgConnection, QueryCallback } from '../../drivers/pg.js'

/** SQLSTATE statement_completion_unknown. */
const COMPLETION_UNKNOWN = '40003'

/** The error of a statement that may or may not have been executed, as if it had not been answered. */
export function unknownCompletion(message: string | undefined, cause?: Error): Error {
  return Object.assign(new Error(message, { cause }), { code: COMPLETION_UNKNOWN, severity: 'ERROR' })
}

/**
 * Reports the error of a COMMIT when it is known whether the connection stays open. An error with which the server, or a pooler, ends the connection does not
 * tell whether the transaction was committed. Its severity would tell it apart, but may be in the language of the server.
 */
export function reportWithEnd(connection: PgConnection, error: Error, report: QueryCallback): void {
  if (!('severity' in error)) return report(error, NOTHING) // of pg: the connection has ended
  const listen = (how: 'on' | 'off') => {
    connection[how]('readyForQuery', goesOn)
    connection[how]('end', ended)
  }
  const goesOn = () => {
    listen('off')
    report(error, NOTHING)
  }
  const ended = () => {
    listen('off')
    report(unknownCompletion(error.message, error), NOTHING)
  }
  listen('on')
}

const NOTHING = { rows: [] }
