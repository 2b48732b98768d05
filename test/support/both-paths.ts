import type { TestContext } from 'node:test'
import type { Database, LifespanOptions } from 'sequitur'
import { openWithLog, type TestDatabase } from './databases.js'

export interface OnePath {
  readonly url: string
  readonly database: Database
  readonly log: string[]
}

/** The same database, on the fast path and without it. */
export async function openBoth(
  t: TestContext,
  kind: TestDatabase,
  tables: readonly string[],
  limits: LifespanOptions = { statementTimeout: 2_500, lockTimeout: 1_000 },
): Promise<[OnePath, OnePath]> {
  const url = await kind.url()
  const fast = await openWithLog(t, url, { ...limits, fastPath: true })
  const plain = await openWithLog(t, url, { ...limits, fastPath: false })
  for (const table of tables) await plain.database.sequelize.query(table)
  return [
    { url, ...fast },
    { url, ...plain },
  ]
}
