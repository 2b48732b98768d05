import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type AppOptions, type Database, type LifespanOptions, newLifespan } from 'sequitur'
import { type TestApp, testApp } from 'sequitur/testing'
import type { Constructor } from '../../src/di/token.js'
import { mariadbUrl } from './mariadb.js'
import { postgresUrl } from './postgres.js'

/*
 * The databases that tests run on, and apps on a new database.
 */

/** A kind of database. */
export interface TestDatabase {
  readonly name: string
  /** Creates an empty database, and returns its URL. */
  url(): Promise<string>
}

let folder: string | undefined

function newFile(): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'sequitur-sqlite-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    folder = made
  }
  return join(folder, `${Math.random().toString(36).slice(2)}.sqlite`)
}

export const sqliteFile: TestDatabase = {
  name: 'SQLite in a file',
  url: () => Promise.resolve(`sqlite+sqlite3:///${newFile()}`),
}
export const sqliteMemory: TestDatabase = {
  name: 'SQLite in memory',
  url: () => Promise.resolve('sqlite+sqlite3:///:memory:'),
}
export const postgres: TestDatabase = { name: 'PostgreSQL', url: postgresUrl }

/** The server of `TEST_MARIADB_URL`, through both drivers, or one of them; none if it is not set. */
export const mysqls: readonly TestDatabase[] = process.env['TEST_MARIADB_URL']
  ? halfOf([
      { name: 'MariaDB', url: () => mariadbUrl('mariadb+mariadb') },
      { name: 'MariaDB through mysql2', url: () => mariadbUrl('mysql+mysql2') },
    ])
  : []

export const databases: readonly TestDatabase[] = chosen()

function chosen(): readonly TestDatabase[] {
  const { TEST_QUICK, TEST_PGBOUNCER, toolkit_fast_path } = process.env
  if (TEST_QUICK) return [sqliteMemory]
  if (TEST_PGBOUNCER) return [postgres]
  // Sequelize's own query path has the same statements for SQLite in memory as in a file.
  if (toolkit_fast_path === 'false') return [...halfOf([sqliteFile, postgres]), ...mysqls]
  return [sqliteFile, sqliteMemory, postgres, ...mysqls]
}

/** One of two, if the file is run with `--halves`: scripts/test-files.js. */
function halfOf(both: readonly TestDatabase[]): readonly TestDatabase[] {
  const { TEST_HALF } = process.env
  return TEST_HALF === undefined ? both : both.filter((_, index) => index === Number(TEST_HALF))
}

/** Why tests of what one server connection keeps are skipped where several clients share it, behind PgBouncer; false elsewhere. */
export const skipIfShared: string | false =
  Boolean(process.env['TEST_PGBOUNCER']) && 'behind PgBouncer clients share the connections of the server'

/** An app on a new database with the tables of the models. `log` collects the lines that it logs. */
export interface DatabaseApp extends TestApp {
  readonly database: Database
  readonly log: string[]
}

/** Starts an app of these controllers on a new database, closed at the end of the test. */
export async function databaseApp(
  t: TestContext,
  kind: TestDatabase,
  models: readonly Constructor[],
  controllers: readonly Constructor[],
  { lifespan = {}, ...options }: Omit<Partial<AppOptions>, 'lifespan'> & { lifespan?: LifespanOptions } = {},
): Promise<DatabaseApp> {
  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const database = newLifespan(await kind.url(), { sync: true, echo: true, ...lifespan })
  const app = await testApp({
    controllers,
    models,
    lifespan: database,
    logger: { info: write, warn: write, error: write },
    ...options,
  })
  t.after(app.close)
  log.length = 0
  return { ...app, database, log }
}

/** The SQL statements in a log, without Sequelize's prefix. */
export function statements(log: readonly string[]): string[] {
  return log.flatMap((line) => /^Executing \([^)]*\): (.*)$/s.exec(line)?.[1] ?? [])
}

/** Opens a database, and keeps its statements in a log. */
export async function openWithLog(
  t: TestContext,
  url: string,
  options: LifespanOptions,
): Promise<{ readonly database: Database; readonly log: string[] }> {
  const log: string[] = []
  const database = newLifespan(url, options)
  await database.start()
  // Read for each statement.
  const settings = database.sequelize as unknown as { readonly options: { logging: unknown } }
  settings.options.logging = (line: string) => void log.push(line)
  t.after(() => database.stop())
  return { database, log }
}
