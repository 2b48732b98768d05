import { Model, type ModelStatic, type Sequelize } from 'sequelize'
import type { CursorStatement, Dialect } from '../dialect.js'
import { sequelizeInternals } from '../sequelize/internals.js'
import { resolveFind } from '../sequelize/resolve-find.js'
import { bindValues } from './bind-placeholders.js'
import { withBindableValues } from './bindable-values.js'
import { refuseSecondStatement } from './check-statement.js'
import { type Select, type Sql, toPlaceholders } from './statement.js'
import type { DirectResult } from '../direct-statement.js'

/** A statement for a cursor, and how its rows are read. */
export interface CursorQuery {
  readonly statement: CursorStatement
  read(result: DirectResult): Promise<readonly unknown[]> | readonly unknown[]
}

/**
 * Resolves a statement of the program. Runs the hooks of `select`.
 *
 * @param assertAllowed called with the SQL of the program, or the SQL that Sequelize has generated; throws to refuse it.
 * @throws TypeError for a statement that cannot be read by a cursor, with what to write instead.
 */
export function cursorQueryOf(
  statement: Select<Model> | Sql<unknown>,
  sequelize: Sequelize,
  dialect: Dialect,
  assertAllowed: (sql: string) => void,
): Promise<CursorQuery> | CursorQuery {
  if (statement.kind === 'select') return ofSelect(statement, sequelize, assertAllowed)
  refuseSecondStatement(statement, sequelize.getDialect())
  assertAllowed(statement.texts.join('?'))
  const bindable = withBindableValues(statement, sequelize)
  const sql = toPlaceholders(bindable, dialect)
  return { statement: { sql, values: bindable.values }, read: ({ rows }) => rows }
}

async function ofSelect(
  { model, options }: Select<Model>,
  sequelize: Sequelize,
  assertAllowed: (sql: string) => void,
): Promise<CursorQuery> {
  const { sql: generated, options: found, read } = await resolveFind(model, options)
  assertAllowed(generated)
  refuseUnreadable(model, found)
  const { sql, options: bound } = bindValues(generated, found)
  const { statement, isRaw } = { statement: withoutSemicolon(String(sql)), isRaw: found.raw === true }
  return {
    statement: withBind(statement, bound?.bind, sequelize),
    read: (result) => read(isRaw ? result.rows : (result.rowsOf?.(model) ?? result.rows)),
  }
}

/** An include as Sequelize has resolved it. */
interface FoundInclude {
  readonly association: { readonly isMultiAssociation: boolean }
  readonly attributes?: readonly unknown[]
  readonly include?: readonly FoundInclude[]
}

function refuseUnreadable(
  { name }: ModelStatic<Model>,
  { include, replacements }: { include?: unknown; replacements?: unknown },
): void {
  if (Array.isArray(include) && !include.every(isOnlyJoined))
    throw new TypeError(
      `rows(select(${name}, ...)): rows with an include cannot be read one after the other, as several may make one instance. Write their join: rows(sql\`SELECT ... JOIN ...\`); for only a condition or an order, add attributes: [] to the include.`,
    )
  if (replacements !== undefined) throw new TypeError(`rows(select(${name}, ...)): write bind instead of replacements.`)
}

/** Whether it adds neither rows nor columns, as for a condition or an order. */
function isOnlyJoined({ association, attributes, include = [] }: FoundInclude): boolean {
  return !association.isMultiAssociation && attributes?.length === 0 && include.every(isOnlyJoined)
}

function withoutSemicolon(sql: string): string {
  return sql.trim().replace(/;$/, '')
}

function withBind(sql: string, bind: unknown, sequelize: Sequelize): CursorStatement {
  if (bind === undefined) return { sql, values: [] }
  const { dialect, options } = sequelizeInternals(sequelize)
  const [text, values] = dialect.Query.formatBindParameters(sql, bind, options.dialect)
  return { sql: text, values: Array.isArray(values) ? values : Object.values(values ?? {}) }
}
