import type { Session } from '../../db/session/session.js'
import { sql } from '../../db/statements/statement.js'
import { MigrationError } from './errors.js'

/** How many rows of a table refer to rows that are not there, by `table -> parent`. Only of SQLite, whose foreign keys are off in a migration. */
type Broken = ReadonlyMap<string, number>

export async function brokenReferences(session: Session): Promise<Broken> {
  if (session.sequelize.getDialect() !== 'sqlite') return new Map()
  const rows = await session.execute(
    sql<{
      name: string
      count: number
    }>`SELECT "table" || ' -> ' || parent AS name, count(*) AS count FROM pragma_foreign_key_check GROUP BY 1`,
  )
  return new Map(rows.map(({ name, count }) => [name, count]))
}

/** @throws MigrationError if rows refer to nothing that did not before. */
export async function assertReferences(session: Session, before: Broken): Promise<void> {
  for (const [name, count] of await brokenReferences(session))
    if (count > (before.get(name) ?? 0))
      throw new MigrationError(
        `after these steps ${count} rows refer to rows that are not there (${name}). Foreign keys are off while a migration of SQLite runs: delete or change these rows in a step.`,
      )
}
