import {
  DatabaseError,
  ForeignKeyConstraintError,
  type Model,
  type ModelStatic,
  UniqueConstraintError,
} from 'sequelize'
import { modelInternals } from '../sequelize/internals.js'
import { originOf, type StatementOrigin } from '../sequelize/failed-statements.js'
import { constraintColumns } from './table-constraints.js'

/** The constraint that a statement has violated. */
export interface Violation {
  /** The attributes of its columns; a column without an attribute has its own name. Empty if the database does not report them. */
  readonly fields: readonly string[]
  /** The message that the model declares for it. */
  readonly message: string | undefined
}

/** The driver's error: its members differ. */
interface DriverError extends Error {
  /** A property of pg's errors, as those below. */
  readonly table?: unknown
  readonly schema?: unknown
  readonly constraint?: unknown
  readonly column?: unknown
  readonly detail?: unknown
  readonly sql?: unknown
}

type AnyModel = ModelStatic<Model>

/** The violated constraint that an error of Sequelize names, in one form for all databases. */
export function violationOf(error: DatabaseError | UniqueConstraintError): Violation {
  const origin = originOf(error)
  const original: DriverError | undefined = 'original' in error ? error.original : undefined
  const { model, columns } = original && origin ? found(error, original, origin) : NOTHING
  return { fields: columns.map((column) => attributeOf(model, column)), message: declaredMessage(model, columns) }
}

interface Found {
  readonly model: AnyModel | undefined
  readonly columns: readonly string[]
}

const NOTHING: Found = { model: undefined, columns: [] }

function found(error: Error, original: DriverError, origin: StatementOrigin): Found {
  switch (origin.sequelize.getDialect()) {
    case 'postgres':
      return onPostgres(error, original, origin)
    case 'mysql':
    case 'mariadb':
      return onMysql(error, original, origin)
    case 'sqlite':
      return onSqlite(original, origin)
    default:
      return NOTHING
  }
}

function onPostgres(error: Error, { table, schema, constraint, column }: DriverError, origin: StatementOrigin): Found {
  const model = typeof table === 'string' ? modelOfTable(origin, table, schema) : origin.model
  if (typeof column === 'string') return { model, columns: [column] }
  const known = model && typeof constraint === 'string' ? constraintColumns(model, constraint) : undefined
  return { model, columns: known ?? (error instanceof UniqueConstraintError ? columnsIn(model, error) : []) }
}

// The index is newer than the start: Sequelize has read the columns from the detail. Expressions are left out.
function columnsIn(model: AnyModel | undefined, { fields }: UniqueConstraintError): readonly string[] {
  const columns = model ? columnsOf(model) : []
  return Object.keys(fields ?? {}).filter((name) => columns.includes(name))
}

const MYSQL_COLUMN = /(?:Column|Field) '([^']+)'/
/** The constraint of a column has its name on MariaDB. */
const MARIADB_CHECK = /CONSTRAINT `([^`.]+)\.([^`]+)` failed/

function onMysql(error: Error, { message, sql }: DriverError, origin: StatementOrigin): Found {
  if (error instanceof ForeignKeyConstraintError) return ofForeignKey(message, origin)
  if (error instanceof UniqueConstraintError) return ofKey(keyIn(message), String(sql), origin)
  const [, table, checked] = MARIADB_CHECK.exec(message) ?? []
  const [, required] = MYSQL_COLUMN.exec(message) ?? []
  const column = checked ?? required
  const model = table === undefined ? origin.model : modelOfTable(origin, table)
  return { model, columns: column === undefined ? [] : [column] }
}

// "... fails (`shop`.`hero`, CONSTRAINT `of_team` FOREIGN KEY (`team_id`) REFERENCES `team` (`id`))", without it for a user who may not see the tables.
function ofForeignKey(message: string, origin: StatementOrigin): Found {
  const [before = '', after = ''] = message.split('`, CONSTRAINT `')
  const [, columns = ''] = after.split(' FOREIGN KEY (`')
  const end = columns.indexOf('`) REFERENCES ')
  if (end < 0) return NOTHING
  const table = before.slice(before.lastIndexOf('`') + 1)
  return { model: modelOfTable(origin, table), columns: columns.slice(0, end).split('`, `') }
}

const BEFORE_KEY = ' for key '

// "Duplicate entry '...' for key 'hero.name'": the value, which a client may have written, precedes it. MariaDB leaves the table out.
function keyIn(message: string): string {
  const key = message.slice(message.lastIndexOf(BEFORE_KEY) + BEFORE_KEY.length)
  return key.replaceAll("'", '').trim()
}

function ofKey(key: string, sql: string, { sequelize, model }: StatementOrigin): Found {
  const table = key.includes('.') ? key.slice(0, key.indexOf('.')).toLowerCase() : undefined
  const name = key.slice(key.indexOf('.') + 1)
  const candidates = model ? [model] : (Object.values(sequelize.models) as AnyModel[])
  const fitting = candidates.flatMap((candidate) => {
    const own = tableOf(candidate)
    const columns = constraintColumns(candidate, name)
    const isNamed = table === undefined ? model !== undefined || sql.includes(own) : own.toLowerCase() === table
    return columns && isNamed ? [{ model: candidate, columns }] : []
  })
  const [first] = fitting
  return first && fitting.length === 1 ? first : NOTHING
}

const SQLITE_COLUMNS = /^SQLITE_CONSTRAINT: (?:UNIQUE|NOT NULL) constraint failed: (?!index ')(.+)/

function onSqlite({ message }: DriverError, origin: StatementOrigin): Found {
  const [, named] = SQLITE_COLUMNS.exec(message) ?? []
  if (named === undefined) return NOTHING
  const places = named
    .split(', ')
    .map((place) => [place.slice(0, place.indexOf('.')), place.slice(place.indexOf('.') + 1)])
  return { model: modelOfTable(origin, places[0]?.[0] ?? ''), columns: places.map(([, column = '']) => column) }
}

/** The model of the table that the database names: the statement may be that of another one, as with a trigger or a cascade. */
function modelOfTable({ sequelize, model }: StatementOrigin, table: string, schema?: unknown): AnyModel | undefined {
  const isIt = (candidate: AnyModel) => tableOf(candidate).toLowerCase() === table.toLowerCase()
  if (model && isIt(model)) return model
  const [first, ...others] = (Object.values(sequelize.models) as AnyModel[]).filter(isIt)
  if (others.length === 0) return first
  return [first, ...others].find((candidate) => candidate && schemaOf(candidate) === schema)
}

function tableOf(model: AnyModel): string {
  const table = model.getTableName()
  return typeof table === 'string' ? table : table.tableName
}

function schemaOf(model: AnyModel): string {
  const table = model.getTableName()
  return typeof table === 'string' ? 'public' : table.schema
}

function columnsOf(model: AnyModel): readonly string[] {
  return Object.entries(modelInternals(model).rawAttributes).map(([name, { field = name }]) => field)
}

// The database reports the column; the client knows the name of the attribute.
function attributeOf(model: AnyModel | undefined, column: string): string {
  const attributes = model ? Object.entries(modelInternals(model).rawAttributes) : []
  return attributes.find(([name, { field = name }]) => field === column)?.[0] ?? column
}

function declaredMessage(model: AnyModel | undefined, columns: readonly string[]): string | undefined {
  const keys = model ? Object.values(modelInternals(model).uniqueKeys) : []
  const key = keys.find(
    ({ fields }) => fields.length === columns.length && fields.every((field) => columns.includes(field)),
  )
  return key?.msg ?? undefined
}
