import { QueryTypes, type Sequelize } from 'sequelize'
import { isMysql } from '../../db/is-mysql.js'
import type { Session } from '../../db/session/session.js'
import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import { migrationName } from './migration-files.js'

/*
 * Two tables. `SequelizeMeta`, as Umzug has it, has a row for each migration that was applied. `migration_step` has its digest, as that of step 0; and while a
 * migration is not finished, a row for each of its steps that was begun.
 */

const META = 'SequelizeMeta'
const STEPS = 'migration_step'

/** The tables of migrations, which belong to no model. */
export const MIGRATION_TABLES: readonly string[] = [META, STEPS]

/** The digest of a migration is that of its step 0. */
const WHOLE = 0

/** A step that was begun. */
export interface StepEntry {
  readonly step: number
  readonly digest: string
  readonly state: 'begun' | 'done'
  /** The last key of batches, as JSON; what the tables were like before a statement of MySQL; null for none. */
  readonly detail: string | null
}

export class Journal {
  readonly #sequelize: Sequelize
  readonly #meta: Sql
  readonly #steps: Sql

  constructor(sequelize: Sequelize) {
    this.#sequelize = sequelize
    this.#meta = rawSql(this.#quoted(META))
    this.#steps = rawSql(STEPS)
  }

  /** Creates the tables. Call it while no other process can. */
  async prepare(): Promise<void> {
    const engine = isMysql(this.#sequelize.getDialect()) ? ' ENGINE = InnoDB' : ''
    const columns: Readonly<Record<string, string>> = {
      [META]: 'name VARCHAR(255) NOT NULL PRIMARY KEY',
      [STEPS]:
        'name VARCHAR(255) NOT NULL, step INTEGER NOT NULL, digest VARCHAR(64) NOT NULL, state VARCHAR(10) NOT NULL, detail TEXT NULL, PRIMARY KEY (name, step)',
    }
    // Not by IF NOT EXISTS, which on PostgreSQL asks only the first schema of the search path: a second, empty table would hide the first.
    for (const [table, text] of Object.entries(columns))
      if (!(await this.#exists(table)))
        await this.#sequelize.query(`CREATE TABLE ${this.#quoted(table)} (${text})${engine}`)
  }

  #quoted(table: string): string {
    const quote = isMysql(this.#sequelize.getDialect()) ? '`' : '"'
    return `${quote}${table}${quote}`
  }

  /** The names of the applied migrations, with their digests: undefined for what Umzug has applied. None without the tables. */
  async applied(session: Session): Promise<ReadonlyMap<string, string | undefined>> {
    if (!(await this.#exists(META))) return new Map()
    const rows = await session.execute(sql<{ name: string }>`SELECT name FROM ${this.#meta} ORDER BY name`)
    const digests = new Map((await this.#entries(session, WHOLE)).map(({ name, digest }) => [name, digest]))
    return new Map(rows.map((row) => migrationName(row.name)).map((name) => [name, digests.get(name)]))
  }

  /** The migrations that were begun and not finished, with how many of their steps are done. */
  async unfinished(session: Session): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>()
    for (const { name, state } of await this.#entries(session))
      counts.set(name, (counts.get(name) ?? 0) + (state === 'done' ? 1 : 0))
    return counts
  }

  /** The migrations of which a part is done. */
  async begun(session: Session): Promise<readonly string[]> {
    const entries = await this.#entries(session)
    return [
      ...new Set(entries.filter(({ state, detail }) => state === 'done' || detail !== null).map(({ name }) => name)),
    ]
  }

  async #entries(session: Session, step?: typeof WHOLE): Promise<readonly (StepEntry & { readonly name: string })[]> {
    if (!(await this.#exists(STEPS))) return []
    const which = step === undefined ? sql`step > ${WHOLE}` : sql`step = ${WHOLE}`
    return session.execute(sql`SELECT name, step, digest, state, detail FROM ${this.#steps} WHERE ${which}`)
  }

  /** Whether statements that name the table find it: Sequelize's tableExists() asks the schema `public` of PostgreSQL, and no other one. */
  async #exists(table: string): Promise<boolean> {
    if (this.#sequelize.getDialect() !== 'postgres') return this.#sequelize.getQueryInterface().tableExists(table)
    const [row] = await this.#sequelize.query<{ readonly found: boolean }>(
      'SELECT to_regclass($1) IS NOT NULL AS found',
      {
        bind: [this.#quoted(table)],
        type: QueryTypes.SELECT,
      },
    )
    return row?.found === true
  }

  /** The steps of a migration that were begun, by their numbers. */
  async steps(session: Session, name: string): Promise<ReadonlyMap<number, StepEntry>> {
    const rows = await session.execute(
      sql<StepEntry>`SELECT step, digest, state, detail FROM ${this.#steps} WHERE name = ${name} AND step > ${WHOLE}`,
    )
    return new Map(rows.map((row) => [row.step, row]))
  }

  /** Notes what was begun, or done. */
  async write(session: Session, name: string, { step, digest, state, detail }: StepEntry): Promise<void> {
    await session.execute(sql`DELETE FROM ${this.#steps} WHERE name = ${name} AND step = ${step}`)
    await session.execute(
      sql`INSERT INTO ${this.#steps} (name, step, digest, state, detail) VALUES (${name}, ${step}, ${digest}, ${state}, ${detail})`,
    )
  }

  /** Notes that a migration is applied. */
  async finish(session: Session, name: string, digest: string): Promise<void> {
    await session.execute(sql`DELETE FROM ${this.#steps} WHERE name = ${name}`)
    await this.write(session, name, { step: WHOLE, digest, state: 'done', detail: null })
    await session.execute(sql`INSERT INTO ${this.#meta} (name) VALUES (${name})`)
  }
}
