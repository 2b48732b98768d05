import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type TestDatabase, mysqls, sqliteFile } from '../support/databases.js'
import { serverUrl } from '../support/postgres.js'
import { root } from '../support/processes.js'

/*
 * Folders with migrations, and the databases that they are run on.
 */

/** A folder of migrations. A file that has been imported is not read again: what is changed gets a folder of its own. */
export interface MigrationFolder {
  readonly path: string
  /** Writes a file: its text, or the steps of one for a kind of database. */
  write(name: string, text: string): void
  remove(name: string): void
}

const HEAD = `import { sql, steps } from 'sequitur/migrations'\n`

/** The text of a file with steps. @param list TypeScript, as it stands between the brackets. */
export function stepsFile(kind: string, list: string): string {
  return `${HEAD}export default steps('${kind}', [${list}])\n`
}

/** The text of a file as Umzug runs it. @param body TypeScript. */
export function plainFile(body: string): string {
  return `import { DataTypes } from 'sequelize'\nexport async function up({ context, name }) {\n${body}\n}\nexport const types = DataTypes\n`
}

/** A new folder, removed at the end of the test. */
export function migrationFolder(
  t: Pick<TestContext, 'after'>,
  files: Readonly<Record<string, string>> = {},
): MigrationFolder {
  const project = mkdtempSync(join(tmpdir(), 'sequitur-migrations-'))
  t.after(() => rmSync(project, { recursive: true, force: true }))
  mkdirSync(join(project, 'node_modules'))
  symlinkSync(root, join(project, 'node_modules/sequitur'))
  symlinkSync(join(root, 'node_modules/sequelize'), join(project, 'node_modules/sequelize'))
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  const path = join(project, 'migrations')
  mkdirSync(path)
  const write = (name: string, text: string) => writeFileSync(join(path, name), text)
  for (const [name, text] of Object.entries(files)) write(name, text)
  return { path, write, remove: (name) => rmSync(join(path, name)) }
}

/** A database on which migrations run, and the kind that steps for it name. */
export interface MigratedDatabase extends TestDatabase {
  readonly kind: 'postgres' | 'mariadb' | 'sqlite'
}

/** Not through PgBouncer, where migrations are refused. */
export const migratedDatabases: readonly MigratedDatabase[] = [
  { ...sqliteFile, kind: 'sqlite' },
  { name: 'PostgreSQL', kind: 'postgres', url: serverUrl },
  ...mysqls.map((database) => ({ ...database, kind: 'mariadb' as const })),
]
