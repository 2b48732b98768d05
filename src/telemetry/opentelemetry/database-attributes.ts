import type { Attributes } from '@opentelemetry/api'
import type { DatabaseFacts } from '../../core/events/channels.js'
import { databaseErrorCode, errorClass } from '../error-code.js'
import { memoFor } from '../../core/memo.js'
import { defined } from '../../core/records.js'

/** Which database it is. */
export const databaseAttributes = memoFor(({ dialect, name, host, port }: DatabaseFacts): Attributes => {
  return defined({
    'db.system.name': dialect === 'postgres' ? 'postgresql' : dialect,
    'db.namespace': name || undefined, // not known to queries before the first session
    'server.address': host,
    'server.port': port,
  })
})

/** Why something in a database has failed; nothing if it has not. */
export function failureAttributes(error: unknown, database: DatabaseFacts): Attributes {
  if (error === undefined) return {}
  const code = databaseErrorCode(error, database)
  return defined({ 'db.response.status_code': code, 'error.type': code ?? errorClass(error) })
}
