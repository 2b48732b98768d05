import { withSession } from 'sequitur'

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

/** Few rows in a transaction: locks are brief, and replicas follow. */
async function fill(rows: number): Promise<void> {
  const batch = `UPDATE hero SET team = 'none' WHERE id IN (SELECT id FROM hero WHERE team IS NULL LIMIT ${rows} FOR UPDATE SKIP LOCKED)`
  for (let updated = rows; updated > 0;)
    updated = await withSession(async ({ sequelize }) => {
      const [, result] = await sequelize.query(batch)
      return (result as { rowCount: number }).rowCount
    })
}
