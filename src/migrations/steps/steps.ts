import { BootError } from '../../core/boot-error.js'
import { shown } from '../../core/options.js'
import { isRecord } from '../../core/records.js'
import type { Session } from '../../db/session/session.js'
import type { Sql } from '../../db/statements/statement.js'
import { startsOnlyWithKeyword } from '../../db/sql/starts-with-keyword.js'
import type { DatabaseKind, TableName } from '../../db/catalog/catalog.js'
import { sqlText } from './step-text.js'
import type { AloneStep, BatchesStep, CommitStep, Migration, RunStep, Step } from './step.js'

/** Options of {@link steps.alone}. */
export interface AloneOptions {
  /**
   * A query that returns a row once the statement was executed: it is asked before the statement, which is left out then. A process may have been killed after
   * the statement, and before that was noted.
   */
  readonly done?: Sql
  /**
   * Whether the step before, an `UPDATE` that may be executed twice, is executed again where rows refuse the statement on MySQL and MariaDB: rows may have come
   * meanwhile. Then the statement is tried again, up to ten times.
   */
  readonly again?: boolean
}

// Of an INSERT with ON CONFLICT DO UPDATE, the range would be a condition of the UPDATE alone.
const isAboutRows = startsOnlyWithKeyword('UPDATE', 'DELETE', 'WITH')

const DATABASES: readonly DatabaseKind[] = ['postgres', 'mysql', 'mariadb', 'sqlite']
const MOST_ROWS = 1_000_000

/**
 * The steps of a migration, in SQL for one kind of database: what a file of the folder `migrations` exports by default.
 *
 * On PostgreSQL and SQLite, the steps that are neither alone nor in batches are one transaction up to a `steps.commit()`, which also has the note that they are done. On MySQL and MariaDB,
 * which commit before each change of a table, each step is noted.
 *
 * @param database the kind of database: `postgres`, `mysql`, `mariadb` or `sqlite`.
 * @throws BootError for an unknown kind, and for a step that is none.
 * @example
 * export default steps('postgres', [
 *   sql`ALTER TABLE hero ADD COLUMN power VARCHAR(50)`,
 *   steps.alone(sql`CREATE INDEX CONCURRENTLY IF NOT EXISTS hero_power ON hero (power)`),
 *   steps.batches('hero', 'id', 1_000, sql`UPDATE hero SET power = 'none' WHERE power IS NULL`),
 * ])
 */
export function steps(database: DatabaseKind, list: readonly (Sql | Step)[]): Migration {
  if (!DATABASES.includes(database))
    throw new BootError(
      `steps(): the first argument is ${shown(database)}. Write 'postgres', 'mysql', 'mariadb' or 'sqlite'.`,
    )
  if (!Array.isArray(list)) throw new BootError('steps(): the second argument is no list. Write [sql`...`, sql`...`].')
  return { kind: 'migration', database, steps: list.map(toStep) }
}

/**
 * A statement that must not be in a transaction, such as `CREATE INDEX CONCURRENTLY`.
 *
 * @example
 * steps.alone(sql`ALTER TABLE hero ADD COLUMN power VARCHAR(50)`, {
 *   done: sql`SELECT 1 FROM information_schema.columns WHERE table_name = 'hero' AND column_name = 'power'`,
 * })
 */
steps.alone = function alone(statement: Sql, { done, again }: AloneOptions = {}): AloneStep {
  requireSql('steps.alone()', statement)
  if (done !== undefined) requireSql('steps.alone(): done', done)
  return { kind: 'alone', statement, done, again }
}

/**
 * Executes a statement for some rows at a time, in the order of a key, each time in a transaction of its own. The statement is an `UPDATE` or a `DELETE` of the
 * table; the range of the key is added to its `WHERE`. What is left after a crash is done by the next run. Between two batches it waits while a replica lags.
 *
 * @param table `hero`, `museum.hero`, or `{ name: 'hero.old' }` where a dot is a part of the name.
 * @param key a column with an index, and without NULL: the primary key. Numbers, texts and UUIDs.
 * @param size how many rows of the table are in a batch.
 * @example
 * steps.batches('hero', 'id', 1_000, sql`UPDATE hero SET power = 'none' WHERE power IS NULL`)
 */
steps.batches = function batches(table: string | TableName, key: string, size: number, statement: Sql): BatchesStep {
  requireSql('steps.batches()', statement)
  if (typeof table !== 'string' && !(isRecord(table) && typeof table.name === 'string'))
    throw new BootError(
      `steps.batches(): the table is ${shown(table)}. Write 'hero', or { schema: 'museum', name: 'hero' }.`,
    )
  if (!Number.isInteger(size) || size < 1 || size > MOST_ROWS)
    throw new BootError(
      `steps.batches(): size is ${shown(size)}. Write a whole number of rows, from 1 to ${MOST_ROWS}.`,
    )
  if (!isAboutRows(sqlText(statement)))
    throw new BootError('steps.batches() takes an UPDATE or a DELETE of the table, perhaps after WITH.')
  return { kind: 'batches', table, key, size, statement }
}

/**
 * Work of the program, in the transaction of the steps before and after it. It may run again: after a lock was not free in time, and after a crash.
 *
 * @example
 * steps.run(async (session) => {
 *   for (const { id, name } of await session.execute(sql<{ id: number; name: string }>`SELECT id, name FROM hero`))
 *     await session.execute(sql`UPDATE hero SET slug = ${slugOf(name)} WHERE id = ${id}`)
 * })
 */
steps.run = function run(work: (session: Session) => Promise<unknown>): RunStep {
  if (typeof work !== 'function')
    throw new BootError('steps.run() takes a function. Write steps.run(async (session) => { ... }).')
  return { kind: 'run', work }
}

/**
 * Ends the transaction of the steps before it: those after it are another one. A table that is changed is locked until the end of its transaction, which should not
 * wait for another table.
 *
 * @example
 * export default steps('postgres', [
 *   sql`ALTER TABLE team ADD COLUMN motto VARCHAR(50)`,
 *   steps.commit(),
 *   sql`ALTER TABLE hero ALTER COLUMN age TYPE BIGINT`, // takes long
 * ])
 */
steps.commit = function commit(): CommitStep {
  return { kind: 'commit' }
}

const KINDS: ReadonlySet<unknown> = new Set(['alone', 'batches', 'run', 'commit'])

function toStep(step: Sql | Step, index: number): Step {
  if (isRecord(step) && KINDS.has(step.kind)) return step as Step // made by one of the functions above
  requireSql(`steps(): step ${index + 1}`, step)
  return { kind: 'sql', statement: step }
}

function requireSql(where: string, value: unknown): asserts value is Sql {
  if (isRecord(value) && value['kind'] === 'sql' && Array.isArray(value['texts'])) return
  throw new BootError(`${where} is ${shown(value)}. Write sql\`...\`, imported from 'sequitur/migrations'.`)
}
