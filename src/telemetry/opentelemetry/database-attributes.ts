import type { Attributes } from '@opentelemetry/api'
import type { DatabaseFacts } from '../../core/events/channels.js'
import { databaseErrorCode, errorClass } from '../error-code.js'
import { defined } from '../../core/records.js'

const known = new WeakMap<DatabaseFacts, Attributes>()

/** Which database it is. */
export function databaseAttributes(database: DatabaseFacts): Attributes {
  const found = known.get(database)
  if (found) return found
  const { dialect, name, host, port } = database
  const attributes = defined({
    'db.system.name': dialect === 'postgres' ? 'postgresql' : dialect,
    'db.namespace': name || undefined, // not known to queries before the first session
    'server.address': host,
    'server.port': port,
  })
  known.set(database, attributes)
  return attributes
}

/** Why something in a database has failed; nothing if it has not. */
export function failureAttributes(error: unknown, database: DatabaseFacts): Attributes {
  if (error === undefined) return {}
  const code = databaseErrorCode(error, database)
  return defined({ 'db.response.status_code': code, 'error.type': code ?? errorClass(error) })
}
