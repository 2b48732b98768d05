// See scripts/crash.js, which starts it.
import { parseArgs } from 'node:util'
import { migratedDatabases } from '../migration-folder.js'
import { crash, cutAtEach } from './crash.js'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    database: { type: 'string', default: 'sqlite' },
    each: { type: 'boolean', default: false },
  },
})

const NAMES: Readonly<Record<string, string>> = {
  sqlite: 'SQLite in a file',
  postgres: 'PostgreSQL',
  mariadb: 'MariaDB',
  mysql2: 'MariaDB through mysql2',
}
const name = NAMES[values.database]
const database = migratedDatabases.find((one) => one.name === name)
if (!database)
  throw new Error(
    `There is no database '${values.database}'. Write --database sqlite, postgres, mariadb or mysql2; the last two need TEST_MARIADB_URL.`,
  )
const ends: (() => unknown)[] = []
try {
  const t = { after: (end: () => unknown) => void ends.push(end) }
  const log = (line: string) => console.log(line)
  const outcome = values.each
    ? { cuts: await cutAtEach(t, database, 1, log) }
    : await crash(t, { database, kills: Number(values.kills), log })
  console.log(`${values.database}: after each of them, the next runs have ended in the same database.`, outcome)
} finally {
  for (const end of ends) await end()
}
