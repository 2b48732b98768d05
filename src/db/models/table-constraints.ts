import { DatabaseError, type Model, type ModelStatic, QueryTypes, type Sequelize } from 'sequelize'
import type { Catalog, Table } from '../catalog/catalog.js'
import { tableOfModel } from '../catalog/catalog-name.js'
import { isCancelled, isLostConnection } from '../dialect.js'
import { queryGeneratorOf } from '../sequelize/internals.js'

/** The columns of a constraint; without those that an expression hides. */
type Constraints = ReadonlyMap<string, readonly string[]>

const constraintsOf = new WeakMap<ModelStatic<Model>, Constraints>()

/**
 * Keeps the columns of the tables' constraints, so that an error which names only a constraint can be explained: on PostgreSQL one without detail, as of
 * a table with row-level security or of a server in another language, on MySQL and MariaDB each one. SQLite names the columns.
 *
 * @param catalog undefined for a server that cannot describe its tables: then less is read.
 */
export async function rememberConstraints(
  sequelize: Sequelize,
  models: readonly ModelStatic<Model>[],
  catalog: Catalog | undefined,
): Promise<void> {
  const readFrom = catalog ? inCatalog(catalog) : await inDatabase(sequelize, models)
  for (const model of models) {
    const constraints = readFrom(model)
    if (constraints) constraintsOf.set(model, constraints)
  }
}

type ReadConstraints = (model: ModelStatic<Model>) => Constraints | undefined

function inCatalog(catalog: Catalog): ReadConstraints {
  if (catalog.kind === 'sqlite') return () => undefined
  return (model) => {
    const table = tableOfModel(catalog, model)
    return table && new Map(namedColumns(table, catalog.kind === 'postgres'))
  }
}

// The errors of MySQL and MariaDB name the columns of a foreign key.
function namedColumns(table: Table, hasAll: boolean): (readonly [string, readonly string[]])[] {
  const { primaryKey, uniques, foreignKeys, checks = [], indexes } = table
  const constraints = [...(primaryKey ? [primaryKey] : []), ...uniques, ...(hasAll ? [...foreignKeys, ...checks] : [])]
  return [
    ...constraints.map(({ name = '', columns }) => [name, columns] as const),
    ...indexes.flatMap(({ name, unique, columns }) =>
      unique ? [[name, columns.flatMap(({ column }) => column ?? [])] as const] : [],
    ),
  ]
}

/** The columns of a constraint of a model's table, as they were when the app started; undefined for an unknown one. */
export function constraintColumns(model: ModelStatic<Model>, constraint: string): readonly string[] | undefined {
  return constraintsOf.get(model)?.get(constraint)
}

interface ConstraintRow {
  readonly table_name: string
  readonly constraint_name: string
  readonly column_name: string
}

async function inDatabase(sequelize: Sequelize, models: readonly ModelStatic<Model>[]): Promise<ReadConstraints> {
  const byTable = new Map<string, Map<string, string[]>>()
  for (const row of await readRows(sequelize, models)) {
    const constraints = byTable.get(row.table_name) ?? new Map<string, string[]>()
    byTable.set(row.table_name, constraints)
    constraints.set(row.constraint_name, [...(constraints.get(row.constraint_name) ?? []), row.column_name])
  }
  return (model) => byTable.get(tableKey(sequelize, model))
}

async function readRows(
  sequelize: Sequelize,
  models: readonly ModelStatic<Model>[],
): Promise<readonly ConstraintRow[]> {
  if (models.length === 0) return []
  try {
    switch (sequelize.getDialect()) {
      case 'postgres': {
        const bind = [models.map((model) => tableKey(sequelize, model))]
        return await sequelize.query<ConstraintRow>(POSTGRES, { bind, type: QueryTypes.SELECT })
      }
      case 'mysql':
      case 'mariadb':
        return await sequelize.query<ConstraintRow>(MYSQL, { type: QueryTypes.SELECT })
      default:
        return []
    }
  } catch (error) {
    // Databases that only speak its protocol lack parts of the catalog: their errors name fewer fields.
    if (error instanceof DatabaseError && !isLostConnection(error) && !isCancelled(error)) return []
    throw error
  }
}

function tableKey(sequelize: Sequelize, model: ModelStatic<Model>): string {
  const table = queryGeneratorOf(sequelize).quoteTable(model.getTableName())
  return sequelize.getDialect() === 'postgres' ? table : table.replaceAll('`', '')
}

const POSTGRES = `SELECT given.name AS table_name, found.name AS constraint_name, a.attname AS column_name
FROM unnest($1::text[]) AS given(name)
  JOIN (
    SELECT i.indrelid AS relation, c.relname AS name, i.indkey::int2[] AS columns
    FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid WHERE i.indisunique
    UNION ALL SELECT conrelid, conname, conkey FROM pg_catalog.pg_constraint WHERE contype IN ('c', 'f')
  ) AS found ON found.relation = to_regclass(given.name)
  JOIN pg_catalog.pg_attribute AS a ON a.attrelid = found.relation AND a.attnum = ANY (found.columns) AND a.attnum > 0
ORDER BY table_name, constraint_name, array_position(found.columns, a.attnum)`

const MYSQL = `SELECT TABLE_NAME AS table_name, INDEX_NAME AS constraint_name, COLUMN_NAME AS column_name
FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0 AND COLUMN_NAME IS NOT NULL
ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`
