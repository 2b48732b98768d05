import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type Model, type ModelAttributes, type ModelOptions, type ModelStatic, QueryTypes, Sequelize } from 'sequelize'
import { type Database, newLifespan } from 'sequitur'
import { migrate } from 'sequitur/migrations'
import type { Choices } from '../../src/migrations/difference/choices.js'
import { checkTables } from '../../src/db/startup/schema-check.js'
import type { PlannedBack } from '../../src/migrations/plan/back.js'
import { fileText } from '../../src/migrations/plan/file-text.js'
import { compared, type PlannedMigration, planMigration } from '../../src/migrations/plan/plan-migration.js'
import type { PlannedStep } from '../../src/migrations/plan/planned.js'
import { assertSafe } from './squawk.js'
import { type MigratedDatabase, type MigrationFolder, migrationFolder } from './migration-folder.js'

/*
 * Databases that are led from one set of models to another.
 */

export type Define = (name: string, attributes: ModelAttributes, options?: ModelOptions) => ModelStatic<Model>

/** Models, made anew for each instance of Sequelize. */
export type Models = (define: Define) => void

/** A database that migrations change. */
export class Led {
  readonly #folder: MigrationFolder
  #files = 0
  #database: Database | undefined

  constructor(
    readonly kind: MigratedDatabase['kind'],
    readonly url: string,
    folder: MigrationFolder,
  ) {
    this.#folder = folder
  }

  /** Executes statements. */
  async run(...statements: readonly string[]): Promise<void> {
    await this.#opened(async (sequelize) => {
      for (const statement of statements) await sequelize.query(statement)
    })
  }

  rows(query: string): Promise<readonly object[]> {
    return this.#opened((sequelize) => sequelize.query<object>(query, { type: QueryTypes.SELECT }))
  }

  /** Creates the tables of models as Sequelize does. */
  async sync(models: Models): Promise<void> {
    await this.#with(models, (sequelize) => sequelize.sync())
  }

  /** Adds rows to the tables of models. */
  async fill(models: Models, rows: ReadonlyMap<string, readonly Readonly<Record<string, unknown>>[]>): Promise<void> {
    await this.#with(models, async (sequelize) => {
      for (const [name, values] of rows) for (const value of values) await sequelize.models[name]?.create({ ...value })
    })
  }

  quoted(name: string): string {
    return this.kind === 'mariadb' ? `\`${name}\`` : `"${name}"`
  }

  /** Starts with the models as an app does, which compares them with the tables. */
  async start(models: Models): Promise<void> {
    await this.#with(models, ({ models: all }) =>
      checkTables(Object.values(all)[0]?.sequelize ?? assert.fail('There are no models.'), Object.values(all), {
        mayBeMissing: false,
      }),
    )
  }

  plan(models: Models, choices: Choices = {}): Promise<PlannedMigration> {
    return this.#with(models, async (sequelize) => {
      return planMigration(await compared(sequelize, Object.values(sequelize.models)), choices)
    })
  }

  /** A plan, and its way back. */
  planWithBack(models: Models, choices: Choices): Promise<PlannedMigration & { readonly wayBack: PlannedBack }> {
    return this.#with(models, async (sequelize) => {
      const planned = await planMigration(await compared(sequelize, Object.values(sequelize.models)), choices)
      return { ...planned, wayBack: await planned.back() }
    })
  }

  /** Writes the files, and applies them. */
  async apply({ files }: Pick<PlannedMigration, 'files'>): Promise<void> {
    if (this.kind === 'postgres') for (const file of files) assertSafe(file)
    for (const file of files) {
      const name = String(++this.#files).padStart(4, '0')
      this.#folder.write(`${name}${file.contract ? '-contract' : ''}.ts`, fileText(this.kind, file, '1.0.0'))
    }
    await migrate(newLifespan(this.url), { directory: this.#folder.path })
  }

  /** Leads to the models, and asserts that the next difference is empty. @returns the steps, without those that are parts of others. */
  async lead(models: Models, choices: Choices = {}): Promise<readonly PlannedStep[]> {
    const planned = await this.plan(models, choices)
    await this.apply(planned)
    await this.assertSame(models)
    return planned.files.flatMap(({ steps }) => steps).filter(({ isPart }) => isPart !== true)
  }

  async assertSame(models: Models): Promise<void> {
    const { difference } = await this.plan(models)
    assert.deepEqual(difference.changes, [])
  }

  /** Why there is no plan. */
  async refusal(models: Models, choices: Choices = {}): Promise<string> {
    const error: unknown = await this.plan(models, choices).then(
      () => assert.fail('It was not refused.'),
      (thrown: unknown) => thrown,
    )
    assert.ok(error instanceof Error && error.name === 'PlanError', String(error))
    return error.message
  }

  #with<T>(models: Models, work: (sequelize: Sequelize) => Promise<T>): Promise<T> {
    return this.#opened((sequelize) => {
      models((name, attributes, options = {}) =>
        // Not by decorators, which would have the classes belong to one instance.
        Sequelize.prototype.define.call(sequelize, name, attributes, {
          timestamps: false,
          freezeTableName: true,
          ...options,
        }),
      )
      return work(sequelize)
    })
  }

  /** One connection for all of them: a new one costs the server more than the statements do. The models are those of before no longer. */
  async #opened<T>(work: (sequelize: Sequelize) => Promise<T>): Promise<T> {
    if (!this.#database) await (this.#database = newLifespan(this.url)).start()
    const { sequelize } = this.#database
    for (const model of Object.values(sequelize.models)) sequelize.modelManager.removeModel(model)
    try {
      return await work(sequelize)
    } finally {
      // A connection of SQLite knows the tables of before: it refuses to create an index that another one has dropped.
      if (this.kind === 'sqlite') await this.close()
    }
  }

  async close(): Promise<void> {
    await this.#database?.stop()
    this.#database = undefined
  }
}

/** A new database, without tables. */
export async function led(t: Pick<TestContext, 'after'>, kind: MigratedDatabase): Promise<Led> {
  const database = new Led(kind.kind, await kind.url(), migrationFolder(t))
  t.after(() => database.close())
  return database
}

/** `hero: add column power VARCHAR(50) NULL | at once` */
export function linesOf(steps: readonly PlannedStep[]): string[] {
  return steps.map(({ table, what, note }) => `${table}: ${what} | ${note}`)
}
