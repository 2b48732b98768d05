import { DatabaseError } from 'sequelize'

/** Another transaction has the row: serialization failures, deadlocks, and locks that are not waited for any longer. */
const CONFLICTS: ReadonlySet<unknown> = new Set(['40001', '40P01', '55P03', 1020, 1205, 1213, 3572])

/** Whether a statement failed because another transaction works with the same row. */
export function isConflict(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  const { code, errno }: Error & { readonly code?: unknown; readonly errno?: unknown } = error.original
  return CONFLICTS.has(code) || CONFLICTS.has(errno)
}
