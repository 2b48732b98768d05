import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { QueryInterface, Sequelize } from 'sequelize'
import { isRecord } from '../../core/records.js'
import type { Migration } from '../steps/step.js'
import { MigrationError } from './errors.js'

/** A file of the folder of migrations. */
export interface MigrationFile {
  /** Its name without `.ts` or `.js`: compiled, it is the same migration. */
  readonly name: string
  readonly path: string
}

/** A migration of QueryInterface. */
export interface PlainMigration {
  readonly kind: 'plain'
  /** As Umzug calls it, with an object; or as sequelize-cli does, with a QueryInterface and Sequelize. */
  up(parameters: PlainParameters, types: typeof Sequelize): Promise<unknown>
}

/** What Umzug passes, and all members of the QueryInterface. */
export interface PlainParameters extends QueryInterface {
  readonly name: string
  readonly path: string
  readonly context: QueryInterface
}

const EXTENSION = /\.[cm]?[jt]s$/
const NO_MIGRATION = /\.d\.[cm]?ts$|\.test\.[cm]?[jt]s$/

/** The name of a migration, from that of its file: rows of Umzug may have the extension. */
export function migrationName(file: string): string {
  return file.replace(EXTENSION, '')
}

/** The migrations of a folder, in their order: that of their names. @throws MigrationError if there is no such folder. */
export function migrationFiles(directory: string | URL): readonly MigrationFile[] {
  const folder = directory instanceof URL ? fileURLToPath(directory) : resolve(directory)
  if (!existsSync(folder))
    throw new MigrationError(`There is no folder ${folder}. Name the one with the migrations, or write the first.`)
  const names = readdirSync(folder).filter((name) => EXTENSION.test(name) && !NO_MIGRATION.test(name))
  // Of a source and what was compiled from it, Node can run the second.
  const files = new Map(names.toSorted(byCode).map((name) => [migrationName(name), join(folder, name)]))
  for (const name of names) if (/\.[cm]?js$/.test(name)) files.set(migrationName(name), join(folder, name))
  return [...files].map(([name, path]) => ({ name, path })).toSorted((a, b) => byCode(a.name, b.name))
}

/** Not by the language of the system: the order is the same everywhere. */
export function byCode(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Imports a migration. @throws MigrationError for a file that has none; what the file throws. */
export async function loadMigration({ name, path }: MigrationFile): Promise<Migration | PlainMigration> {
  const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(path).href)
  // A file of CommonJS exports all by default.
  for (const from of [exported, exported['default']]) {
    if (!isRecord(from)) continue
    const { default: inner, up } = from
    if (isMigration(from)) return from
    if (isMigration(inner)) return inner
    if (isUp(up)) return { kind: 'plain', up }
  }
  throw new MigrationError(
    `${name} has no migration. Write 'export default steps(...)', or 'export async function up({ context })'; other files belong elsewhere.`,
  )
}

function isMigration(value: unknown): value is Migration {
  return isRecord(value) && value['kind'] === 'migration' && Array.isArray(value['steps'])
}

// Its parameters cannot be checked.
function isUp(value: unknown): value is PlainMigration['up'] {
  return typeof value === 'function'
}
