import { isMysql } from '../../db/is-mysql.js'
import { checkOptions, fitting, type OptionChecks, typed } from '../../core/option-checks.js'
import type { Database } from '../../db/database.js'
import { migrationDigest } from '../steps/step-text.js'
import type { Migration } from '../steps/step.js'
import { MigrationError } from './errors.js'
import { fileDigest, isEdited, isFileDigest } from './file-digest.js'
import { Journal } from './journal.js'
import { byCode, loadMigration, type MigrationFile, migrationFiles, type PlainMigration } from './migration-files.js'
import { lockMigrations } from './migration-lock.js'
import { databaseForMigrations } from './own-database.js'
import { type Run, runPlain, runSteps } from './run-file.js'

/** Options of {@link migrate}. */
export interface MigrateOptions {
  /** The folder with the migrations, one in a file: a path from the working directory, or a URL as in `new URL('./migrations', import.meta.url)`. */
  readonly directory: string | URL
  /** Receives a line when something is waited for. Default: nothing. */
  readonly log?: (line: string) => void
}

/** What {@link migrate} has done. */
export interface MigrateResult {
  /** The migrations that were applied, in their order. Empty if none was pending. */
  readonly applied: readonly string[]
  /** Those of them that come before one that was applied earlier, as after a merge of two branches. */
  readonly outOfOrder: readonly string[]
  /** Those that were applied earlier, and have no file. A new database would not have what they did. */
  readonly missing: readonly string[]
  /** Those of QueryInterface that were applied earlier, and whose text has changed since. They are not applied again. */
  readonly edited: readonly string[]
}

/** What {@link migrationStatus} finds. */
export interface MigrationStatus {
  /** In their order, as those that follow. */
  readonly applied: readonly string[]
  readonly pending: readonly string[]
  /** Pending ones that were begun, with the number of their steps that are done. */
  readonly unfinished: ReadonlyMap<string, number>
  /** Applied ones without a file. */
  readonly missing: readonly string[]
  /** Applied ones whose steps have changed since. */
  readonly changed: readonly string[]
  /** Applied ones of QueryInterface whose text has changed since, which may be nothing but a comment. */
  readonly edited: readonly string[]
}

const OPTIONS: OptionChecks<MigrateOptions> = {
  directory: fitting(
    (value) => (typeof value === 'string' && value !== '') || value instanceof URL,
    `a folder: 'migrations', or new URL('./migrations', import.meta.url)`,
  ),
  log: typed('function', 'a function that takes a line: console.log'),
}

/**
 * Applies the pending migrations of a folder, in the order of their names. One process does at a time: others wait, and then find nothing to do. What a process has
 * begun that was killed is finished by the next.
 *
 * A file exports `steps(...)` by default, or a function `up({ context })` of Umzug, whose `context` is a QueryInterface. Applied migrations are rows of the table
 * `SequelizeMeta`, as Umzug has it.
 *
 * @throws MigrationError for a step that fails, for an applied file that has changed, for one that was begun and is missing, and for a database in memory or behind a pooler; what the database throws.
 * @example
 * const { applied } = await migrate(newLifespan(), { directory: new URL('./migrations', import.meta.url) })
 */
export async function migrate(database: Database, options: MigrateOptions): Promise<MigrateResult> {
  checkOptions('migrate()', options, OPTIONS, ['directory'])
  const files = migrationFiles(options.directory)
  return whileAlone(database, options, async (run) => {
    const applied = await run.database.session((session) => run.journal.applied(session))
    const { changed, edited } = await compareFiles(files, applied)
    refuseChanged(changed)
    await refuseWithoutFile(run, files)
    const pending = files.filter(({ name }) => !applied.has(name))
    const last = [...applied.keys()].toSorted(byCode).at(-1) ?? ''
    for (const [index, file] of pending.entries()) await apply(run, file, pending.slice(0, index))
    const names = pending.map(({ name }) => name)
    return {
      applied: names,
      outOfOrder: names.filter((name) => byCode(name, last) < 0),
      missing: withoutFile(files, applied),
      edited,
    }
  })
}

/**
 * Compares the migrations of a folder with those that were applied. Changes no table.
 *
 * @throws MigrationError if there is no such folder, or a file without a migration; what the database throws.
 * @example
 * const { pending, missing, changed } = await migrationStatus(database, { directory: 'migrations' })
 */
export async function migrationStatus(database: Database, options: MigrateOptions): Promise<MigrationStatus> {
  checkOptions('migrationStatus()', options, OPTIONS, ['directory'])
  const files = migrationFiles(options.directory)
  const own = databaseForMigrations(database)
  return own.during(async () => {
    const journal = new Journal(own.sequelize)
    const [applied, unfinished] = await own.session(async (session) => [
      await journal.applied(session),
      await journal.unfinished(session),
    ])
    const names = files.map(({ name }) => name)
    return {
      applied: [...applied.keys()].toSorted(byCode),
      pending: names.filter((name) => !applied.has(name)),
      unfinished,
      missing: withoutFile(files, applied),
      ...(await compareFiles(files, applied)),
    }
  })
}

/**
 * Marks the migrations of a folder as applied without running them, for a database whose tables are there already.
 *
 * @param until the name of the last one. Default: all of them.
 * @returns the names of those that were not marked before.
 * @throws MigrationError if there is no migration of that name; what the database throws.
 * @example
 * await baseline(database, { directory: 'migrations' }, '0007-add-team')
 */
export async function baseline(
  database: Database,
  options: MigrateOptions,
  until?: string,
): Promise<readonly string[]> {
  checkOptions('baseline()', options, OPTIONS, ['directory'])
  const files = filesUntil(migrationFiles(options.directory), until)
  return whileAlone(database, options, async ({ database: own, journal }) => {
    const applied = await own.session((session) => journal.applied(session))
    const wanted = files.filter(({ name }) => !applied.has(name))
    const marked = await Promise.all(
      wanted.map(async (file) => ({ name: file.name, digest: digestOf(file, await loadMigration(file)) })),
    )
    await own.session(async (session) => {
      for (const { name, digest } of marked) await journal.finish(session, name, digest)
    })
    return wanted.map(({ name }) => name)
  })
}

function filesUntil(files: readonly MigrationFile[], until: string | undefined): readonly MigrationFile[] {
  if (until === undefined) return files
  const index = files.findIndex(({ name }) => name === until)
  if (index >= 0) return files.slice(0, index + 1)
  const names = files.map(({ name }) => name).join(', ')
  throw new MigrationError(`There is no migration ${until}. There are: ${names || 'none'}.`)
}

/** Runs the work while no other process migrates the database. */
async function whileAlone<T>(
  database: Database,
  { log = () => {} }: MigrateOptions,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const own = databaseForMigrations(database)
  return own.during(async () => {
    const unlock = await lockMigrations(own.sequelize, log)
    try {
      const journal = new Journal(own.sequelize)
      await journal.prepare()
      return await work({ database: own, journal, log })
    } finally {
      await unlock()
    }
  })
}

async function apply(run: Run, file: MigrationFile, before: readonly MigrationFile[]): Promise<void> {
  try {
    const migration = await loadMigration(file)
    if (migration.kind === 'plain') return await runPlain(run, file, migration)
    refuseOther(run, file, migration)
    await runSteps(run, file, migration)
  } catch (error) {
    if (!(error instanceof MigrationError) || before.length === 0) throw error
    const names = before.map(({ name }) => name).join(', ')
    throw new MigrationError(`${error.message}\nApplied before it, and kept: ${names}.`, { cause: error.cause })
  }
}

/** @throws MigrationError for steps in the SQL of another database. A server of MariaDB may be reached by a driver of MySQL. */
function refuseOther({ database }: Run, { name }: MigrationFile, migration: Migration): void {
  const dialect = database.sequelize.getDialect()
  if (migration.database === dialect) return
  if (isMysql(dialect) && isMysql(migration.database)) return
  throw new MigrationError(`${name} is written for ${migration.database}, and this database is of ${dialect}.`)
}

function withoutFile(files: readonly MigrationFile[], applied: ReadonlyMap<string, unknown>): readonly string[] {
  const names = new Set(files.map(({ name }) => name))
  return [...applied.keys()].filter((name) => !names.has(name)).toSorted(byCode)
}

function refuseChanged(changed: readonly string[]): void {
  if (changed.length === 0) return
  throw new MigrationError(
    `Applied migrations have changed since: ${changed.join(', ')}. Write them again as they were, and what is new in another file.`,
  )
}

/** A file that got another name would run from its first step. */
async function refuseWithoutFile({ database, journal }: Run, files: readonly MigrationFile[]): Promise<void> {
  const begun = await database.session((session) => journal.begun(session))
  const [name] = begun.filter((one) => !files.some((file) => file.name === one)).toSorted(byCode)
  if (name === undefined) return
  throw new MigrationError(
    `${name} was begun, and has no file. Give it its name again, or undo what it has done, and delete its rows of migration_step.`,
  )
}

/** Those that are not as they were when they were applied. What Umzug has applied has no digest. */
async function compareFiles(
  files: readonly MigrationFile[],
  applied: ReadonlyMap<string, string | undefined>,
): Promise<Pick<MigrationStatus, 'changed' | 'edited'>> {
  const [changed, edited]: [string[], string[]] = [[], []]
  for (const file of files) {
    const digest = applied.get(file.name)
    if (digest === undefined) continue
    if (isFileDigest(digest)) {
      if (isEdited(file, digest)) edited.push(file.name)
    } else if (digestOf(file, await loadMigration(file)) !== digest) changed.push(file.name)
  }
  return { changed, edited }
}

function digestOf(file: MigrationFile, migration: Migration | PlainMigration): string {
  return migration.kind === 'plain' ? fileDigest(file) : migrationDigest(migration)
}
