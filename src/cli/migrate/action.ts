import type { Database } from '../../db/database.js'
import type { Several } from '../command.js'

/** What an action of `sequitur migrate` works on. */
export interface Migrating {
  /** The database of the app. It is not open, and its models are not compared with their tables. */
  readonly database: Database
  /** The folder of the migrations, which may be missing. */
  readonly directory: string
  /** The folder of the program's TypeScript, which may be missing. */
  readonly sources: string
  /** What follows the name of the action. */
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, string>>
  readonly several: Several
  readonly flags: ReadonlySet<string>
}

/** An action of `sequitur migrate`. */
export interface MigrateAction {
  /** What it does: without a capital letter, and without a full stop at the end. */
  readonly summary: string
  /** The word that follows its name: `<name>`. */
  readonly argument?: string
  /** The options that it has in addition to `--dir` and `--database`. */
  readonly options: readonly string[]
  /** @returns the exit code. */
  run(migrating: Migrating): Promise<number>
}
