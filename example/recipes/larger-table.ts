import { sql, withSession } from 'sequitur'

/*
 * A column is added to a table that is in use, filled, and required, in steps of which none holds a lock for longer than a moment. Processes that
 * run continue before, between and after the steps: first deploy a version that writes the column. The start compares nullability.
 */

const LOCK = `SET LOCAL lock_timeout = '2s'` // a step that has to wait longer fails, and is run again later

/** Each in a transaction of its own. */
export const steps: readonly (() => Promise<void>)[] = [
  () => inTransaction(LOCK, 'ALTER TABLE hero ADD COLUMN team TEXT'), // without a volatile default: no row is written
  () => fill(1_000),
  () => inTransaction(LOCK, 'ALTER TABLE hero ADD CONSTRAINT hero_team CHECK (team IS NOT NULL) NOT VALID'),
  () => inTransaction('ALTER TABLE hero VALIDATE CONSTRAINT hero_team'), // reads all rows; writes continue
  () =>
    inTransaction(
      LOCK,
      'ALTER TABLE hero ALTER COLUMN team SET NOT NULL',
      'ALTER TABLE hero DROP CONSTRAINT hero_team',
    ),
]

async function inTransaction(...statements: readonly string[]): Promise<void> {
  await withSession(async ({ sequelize }) => {
    for (const statement of statements) await sequelize.query(statement)
  })
}

/** Range by range of the key, so that no row is read twice. Few rows in a transaction: locks are brief, and replicas follow. */
async function fill(rows: number): Promise<void> {
  for (let last: string | null = '0'; last !== null;) last = await fillRange(last, rows)
}

/** The last id of the range; null if there is no further row. */
async function fillRange(after: string, rows: number): Promise<string | null> {
  return withSession(async (session) => {
    const [range] = await session.execute<{ last: string | null }>(sql`
      WITH part AS (SELECT id FROM hero WHERE id > ${after} ORDER BY id LIMIT ${rows}),
        filled AS (UPDATE hero SET team = 'none' WHERE id IN (SELECT id FROM part) AND team IS NULL)
      SELECT max(id) AS last FROM part`)
    return range?.last ?? null
  })
}
