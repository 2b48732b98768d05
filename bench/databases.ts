import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mariadbUrl } from '../test/support/mariadb.js'
import { startPostgres } from '../test/support/postgres-server.js'

/** A new, empty database. */
export interface BenchDatabase {
  readonly name: 'SQLite' | 'PostgreSQL' | 'MariaDB'
  readonly url: string
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
