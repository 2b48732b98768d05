import { messageOf } from '../../core/to-error.js'
import { CommandError } from '../command.js'

/** How servers say that the account may not do something: SQLSTATE of PostgreSQL, names of errors of MySQL and MariaDB. */
const DENIED: ReadonlySet<unknown> = new Set([
  '42501',
  'ER_TABLEACCESS_DENIED_ERROR',
  'ER_DBACCESS_DENIED_ERROR',
  'ER_COLUMNACCESS_DENIED_ERROR',
  'ER_SPECIFIC_ACCESS_DENIED_ERROR',
])

/** The error, or one line for one of missing rights. @param action `up` */
export function missingRights(action: string, error: unknown): unknown {
  const original = error instanceof Error && 'original' in error ? error.original : undefined // that of the driver
  const code = original instanceof Error && 'code' in original ? original.code : undefined
  if (!DENIED.has(code)) return error
  return new CommandError(
    `sequitur migrate ${action} needs more rights: ${messageOf(original)}. docs/migrations.md lists them: "Rights of the account".`,
  )
}
