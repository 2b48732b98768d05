import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { QueryTypes, type Sequelize } from 'sequelize'
import { codeOf } from './dialect.js'
import { parseDatabaseUrl } from './config/url.js'
import { checkOptions, flag, type OptionChecks } from '../core/option-checks.js'
import { newLifespan } from './lifespan.js'

/** A database of its own for a test file. Made by {@link testDatabase}. */
export interface TestDatabase extends AsyncDisposable {
  /** For `newLifespan(url)`. */
  readonly url: string
  /** Removes the database. Close what uses it before. */
  drop(): Promise<void>
}

/** How {@link testDatabase} creates a database. */
export interface TestDatabaseOptions {
  /** Whether the database is without tables, and the one that is named only tells the server. Default: false. */
  readonly empty?: boolean
}

const OPTIONS: OptionChecks<TestDatabaseOptions> = { empty: flag }

/**
 * Copies a database, with its tables and rows, for one test file: prepare one by migrations, and name it here as the template. Files that run at the
 * same time do not see each other's rows.
 *
 * - PostgreSQL: `CREATE DATABASE ... TEMPLATE`. Nothing may be connected to the template.
 * - MySQL and MariaDB: tables and rows are copied, without views, triggers and routines.
 * - SQLite: the file is copied to a temporary folder. A database in memory is new.
 *
 * With `{ empty: true }` nothing is copied, and the database may be in use: create the tables by your migrations, or by `sync`.
 *
 * @param template its URL, as for `newLifespan()`. The user needs the right to create databases.
 * @throws DatabaseUrlError for another URL, and the error of the database that cannot be copied.
 * @example
 * const database = await testDatabase('postgres+pg://user:password@localhost/heroes_template')
 * after(() => database.drop())
 * const api = await testApp({ controllers: [HeroController], models: [Hero], lifespan: newLifespan(database.url) })
 */
export async function testDatabase(template: string, options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  checkOptions('testDatabase()', options, OPTIONS)
  const { empty = false } = options
  const config = parseDatabaseUrl(template, 'testDatabase()')
  if (config.dialect === 'sqlite') return copyOfFile(empty ? 'sqlite+sqlite3:///:memory:' : template)
  const name = `test_${randomBytes(8).toString('hex')}`
  const url = withDatabase(template, name)
  if (config.dialect === 'postgres') {
    const admin = withDatabase(template, 'postgres')
    await run(admin, (sequelize) => copyPostgres(sequelize, empty ? 'template0' : config.database, name))
    return disposable(url, () =>
      run(admin, (sequelize) => query(sequelize, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`)),
    )
  }
  await run(template, (sequelize) =>
    empty ? createMysql(sequelize, name) : copyMysql(sequelize, config.database, name),
  )
  return disposable(url, () => run(template, (sequelize) => query(sequelize, `DROP DATABASE IF EXISTS \`${name}\``)))
}

function disposable(url: string, drop: () => Promise<void>): TestDatabase {
  let dropping: Promise<void> | undefined
  const once = () => (dropping ??= drop())
  return { url, drop: once, [Symbol.asyncDispose]: once }
}

// Not WHATWG's URL, which refuses several hosts.
function withDatabase(url: string, name: string): string {
  return url.trim().replace(/^([^/]+\/\/[^/?]*)\/[^?]*/, `$1/${name}`)
}

async function run<T>(url: string, work: (sequelize: Sequelize) => Promise<T>): Promise<T> {
  const database = newLifespan(url)
  await database.start()
  try {
    return await work(database.sequelize)
  } finally {
    await database.stop()
  }
}

async function query(sequelize: Sequelize, sql: string): Promise<void> {
  await sequelize.query(sql, { type: QueryTypes.RAW })
}

/** How often a copy is tried while another test file copies the same template. */
const MAX_TRIES = 50

async function copyPostgres(sequelize: Sequelize, template: string, name: string): Promise<void> {
  const sql = `CREATE DATABASE "${name}" TEMPLATE "${template.replaceAll('"', '""')}"`
  for (let tries = 1; ; tries++) {
    try {
      return await query(sequelize, sql)
    } catch (error) {
      if (codeOf(error) !== '55006' || tries === MAX_TRIES) throw error // object_in_use
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

async function createMysql(sequelize: Sequelize, name: string): Promise<void> {
  await query(sequelize, `CREATE DATABASE \`${name}\``)
}

async function copyMysql(sequelize: Sequelize, template: string, name: string): Promise<void> {
  const quoted = (part: string) => `\`${part.replaceAll('`', '``')}\``
  const source = quoted(template)
  const tables = await sequelize.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'`,
    { type: QueryTypes.SELECT },
  )
  await createMysql(sequelize, name)
  // One connection: it has the new database as its own, in which the names in foreign keys are looked up.
  await sequelize.transaction(async (transaction) => {
    const send = (sql: string) => sequelize.query(sql, { transaction, type: QueryTypes.RAW })
    await send('SET foreign_key_checks = 0')
    const definitions: string[] = []
    for (const table of tables) {
      const [rows] = await send(`SHOW CREATE TABLE ${quoted(table.name)}`)
      definitions.push((rows as readonly { 'Create Table': string }[])[0]?.['Create Table'] ?? '') // as the server names the column
    }
    await send(`USE \`${name}\``)
    for (const definition of definitions) await send(definition)
    for (const table of tables)
      await send(`INSERT INTO ${quoted(table.name)} SELECT * FROM ${source}.${quoted(table.name)}`)
    await send('SET foreign_key_checks = 1')
  })
}

async function copyOfFile(template: string): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'sequitur-test-'))
  const file = join(folder, 'test.sqlite')
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    // Also with what is only in the file of the write-ahead log.
    await run(template, (sequelize) => query(sequelize, `VACUUM INTO '${file.replaceAll(`'`, `''`)}'`))
  } catch (error) {
    await remove()
    throw error
  }
  return disposable(`sqlite+sqlite3:///${file}`, remove)
}
