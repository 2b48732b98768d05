import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newLifespan } from 'sequitur'
import { migrate } from 'sequitur/migrations'
import { migrationFolder, stepsFile } from '../migrations/migration-folder.js'
import { postgresPrograms, startCluster } from '../support/postgres-cluster.js'
import { skipWithout } from '../support/skip-without.js'

const skip = skipWithout('PostgreSQL with standbys', [
  `${postgresPrograms() ?? '/usr/lib/postgresql'}/pg_basebackup`,
  'ps',
])

const HEROES = stepsFile(
  'postgres',
  'sql`CREATE TABLE hero AS SELECT n AS id, 0 AS count FROM generate_series(1, 30) AS n`',
)
const COUNT = stepsFile(
  'postgres',
  `steps.batches('hero', 'id', 1, sql\`UPDATE hero SET count = count + (SELECT 1 FROM pg_sleep(0.1))\`)`,
)

test('batches wait while a replica does not follow, and go on', { skip }, async (t) => {
  const { primary, standbys } = await startCluster(t)
  const folder = migrationFolder(t, { '0001-hero.ts': HEROES })
  const database = newLifespan(primary.url)
  await migrate(database, { directory: folder.path })
  const [late] = standbys
  await late.query('SELECT pg_wal_replay_pause()')
  const lines: string[] = []
  const log = (line: string) => {
    lines.push(line)
    void late.query('SELECT pg_wal_replay_resume()')
  }
  folder.write('0002-count.ts', COUNT)
  await migrate(database, { directory: folder.path, log })
  assert.equal(lines[0], 'A replica is more than a second late: waiting for it.')
  const rows = await primary.query('SELECT count, count(*)::integer AS heroes FROM hero GROUP BY count')
  assert.deepEqual(rows, [{ count: 1, heroes: 30 }])
})
