import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { QueryTypes, type Sequelize } from 'sequelize'
import { mariadbUrl } from '../test/support/mariadb.js'
import { startPostgres } from '../test/support/postgres-server.js'
import { pidIn } from './compare/process-facts.js'

/** A new, empty database. */
export interface BenchDatabase {
  readonly name: 'SQLite' | 'PostgreSQL' | 'MariaDB'
  readonly url: string
}

const FOLDERS: Readonly<Record<string, { readonly sql: string; readonly program: RegExp }>> = {
  postgres: {
    sql: `SELECT current_setting('data_directory') AS folder, 'postmaster.pid' AS file`,
    program: /postgres/,
  },
  mariadb: { sql: 'SELECT @@datadir AS folder, @@pid_file AS file', program: /mariadbd|mysqld/ },
}

/** The process of the server; undefined for SQLite, and for a server of another machine. */
export async function serverPid(sequelize: Sequelize): Promise<number | undefined> {
  const found = FOLDERS[sequelize.getDialect()]
  if (!found) return undefined
  const [row] = await sequelize.query<{ folder: string; file: string }>(found.sql, { type: QueryTypes.SELECT })
  return row && pidIn(resolve(row.folder, row.file), found.program)
}

/** SQLite in a file, a PostgreSQL that ends with this process, and MariaDB where TEST_MARIADB_URL says where it is. */
export async function benchDatabases(): Promise<readonly BenchDatabase[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const { url } = await startPostgres()
  const mariadb = process.env['TEST_MARIADB_URL'] ? [await mariadbUrl('mariadb+mariadb')] : []
  return [
    { name: 'SQLite', url: `sqlite+sqlite3:///${join(folder, 'bench.sqlite')}` },
    { name: 'PostgreSQL', url },
    ...mariadb.map((url) => ({ name: 'MariaDB', url }) as const),
  ]
}
