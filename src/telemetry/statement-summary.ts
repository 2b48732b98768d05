import type { StatementEnded } from '../core/events/channels.js'
import { summarizeQuery } from '../db/sql/query-summary.js'

/** For how many shapes of statements a process keeps the summary. */
const MAX_KNOWN = 1_000

const known = new Map<string, string>()

/** The operations and tables of a statement: `SELECT "hero" "team"`. */
export function summaryOf({ shape, database }: StatementEnded): string {
  const found = known.get(shape)
  if (found !== undefined) return found
  const summary = summarizeQuery(shape, database.dialect)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(shape, summary)
  return summary
}
