import { type Model, type ModelStatic, QueryTypes, type Sequelize } from 'sequelize'
import type { Boundary } from '../../db/boundary.js'
import type { Catalog } from '../../db/catalog/catalog.js'
import { readCatalog } from '../../db/catalog/read-catalog.js'
import { modelCatalog } from '../catalog/model-catalog.js'
import type { ModelCatalog } from '../catalog/model-tables.js'
import { type ChangeOf, changesOf, displayOf } from '../difference/change.js'
import { type Choices, valuesOf } from '../difference/choices.js'
import { type Difference, difference } from '../difference/difference.js'
import { PlanError } from '../errors.js'
import { statedRenames } from '../renamed.js'
import { MIGRATION_TABLES } from '../run/journal.js'
import { type PlannedBack, planBack } from './back.js'
import { databaseFacts } from './database-facts.js'
import { plan } from './plan.js'
import { AT_ONCE, type PlacedStep, type PlannedFile } from './planned.js'
import { unknownValues } from './sqlite/values.js'

/** A database, and the models that it is to fit. */
export interface Compared {
  readonly sequelize: Sequelize
  readonly boundary?: Boundary | undefined
  readonly database: Catalog
  readonly models: ModelCatalog
  /** Those that `@Renamed()` states. */
  readonly renames: readonly string[]
}

/**
 * Reads the tables of the database, and those that Sequelize would create for the models.
 *
 * @throws DatabaseStartError for models whose tables cannot be created; the driver's error.
 */
export async function compared(
  sequelize: Sequelize,
  models: readonly ModelStatic<Model>[],
  boundary?: Boundary,
): Promise<Compared> {
  const { tables, ...catalog } = await readCatalog(sequelize)
  const database = { ...catalog, tables: tables.filter(({ name }) => !MIGRATION_TABLES.includes(name)) }
  const wanted = await modelCatalog(sequelize, models, database)
  return { sequelize, boundary, database, models: wanted, renames: statedRenames(models, database) }
}

export interface PlannedMigration {
  readonly difference: Difference
  /** Changes that people write by hand, in sentences. */
  readonly byHand: readonly string[]
  /** What no migration mends by itself, in sentences. */
  readonly remarks: readonly string[]
  readonly files: readonly PlannedFile[]
  /** The way back, where it loses nothing. */
  back(): Promise<PlannedBack>
}

/** The difference, with the renames that the models state. @throws PlanError for choices that name what is not there. */
export function differenceOf({ database, models, renames }: Compared, choices: Choices): Difference {
  return difference(database, models, withRenames(choices, renames))
}

/**
 * The migration that leads from the tables of a database to those of the models.
 *
 * @throws PlanError for what people have to decide.
 */
export async function planMigration(both: Compared, given: Choices): Promise<PlannedMigration> {
  const { sequelize, database, models } = both
  const choices = withRenames(given, both.renames)
  const found = difference(database, models, choices)
  const further = await limitSteps(both)
  const facts = databaseFacts(sequelize, database)
  const newKeys = changesOf(found.changes, 'change primary key').filter(({ table }) => table.primaryKey)
  const changes = found.changes.filter((change) => !newKeys.some((newKey) => newKey === change))
  const options = { database, models, changes, choices, facts, further }
  const files = await plan(options)
  await refuseHiddenRows(sequelize, files)
  const casts = valuesOf(models, '--cast', choices.cast)
  const remarks = database.kind === 'sqlite' ? await unknownValues(database, models, casts, facts) : []
  return { difference: found, byHand: newKeys.map(newKeyText), remarks, files, back: () => planBack(options, files) }
}

/** No step leads there without a moment in which there is no key. */
function newKeyText({ table, key }: ChangeOf<'change primary key'>): string {
  const old = table.primaryKey?.columns.join(', ')
  return `${displayOf(table)}: the primary key (${old}) cannot become (${key.columns.join(', ')}) by itself. Write this migration by hand: docs/migrations.md, "By hand".`
}

/** What people write themselves comes before what the models state. */
function withRenames(choices: Choices, renames: readonly string[]): Choices {
  const { rename = [] } = choices
  const known = new Set(rename.map((text) => text.split(':')[0]))
  return { ...choices, rename: [...rename, ...renames.filter((text) => !known.has(text.split(':')[0]))] }
}

/** The statements that limit the tables of tenants. */
async function limitSteps({ sequelize, boundary }: Compared): Promise<PlacedStep[]> {
  const missing = (await boundary?.missingStatements?.(sequelize)) ?? []
  return missing.map(({ model, sql }) => {
    const name = model.getTableName()
    const table = typeof name === 'string' ? name : displayOf({ schema: name.schema, name: name.tableName })
    return {
      table,
      phase: 'limits',
      what: `limit to a tenant: ${sql.split(' ON ')[0]}`,
      note: AT_ONCE,
      code: { kind: 'sql', sql },
    }
  })
}

/** @throws PlanError for a role that sees a part of the rows: it would count too few, and would fill too few. */
async function refuseHiddenRows(sequelize: Sequelize, files: readonly PlannedFile[]): Promise<void> {
  if (sequelize.getDialect() !== 'postgres') return
  const reads = files.flatMap(({ steps }) => steps).filter(({ note, code }) => note !== AT_ONCE || code.kind !== 'sql')
  const tables = [...new Set(reads.map(({ table }) => table))]
  const rows = await sequelize.query<{ readonly name: string }>(
    `SELECT relname AS name FROM pg_catalog.pg_class
     WHERE relkind IN ('r', 'p') AND row_security_active(oid) AND relname = ANY(string_to_array($1, E'\\n'))`,
    { bind: [tables.flatMap((name) => [name, name.slice(name.indexOf('.') + 1)]).join('\n')], type: QueryTypes.SELECT },
  )
  if (rows.length === 0) return
  const names = rows.map(({ name }) => name).join(', ')
  throw new PlanError(
    `The policies of ${names} hide rows from the role of the connection, which could not count or fill them. Migrate as a role that has BYPASSRLS.`,
  )
}
