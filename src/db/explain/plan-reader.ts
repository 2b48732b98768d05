import { withoutLiterals } from '../sql/shape.js'
import { postgresPlan } from './postgres-plan.js'

type Row = Readonly<Record<string, unknown>>

/** How the plan of a statement is read from one kind of database. */
export interface PlanReader {
  /** The text before the statement. */
  readonly prefix: string
  /** The statement before it, after which a ROLLBACK is sent. */
  readonly begin?: string
  /** Whether the plan is made for the values of the statement. */
  readonly takesValues: boolean
  /** The steps of the plan, each indented by its depth, without values. */
  linesOf(rows: readonly Row[]): readonly string[]
}

const mysql: PlanReader = {
  prefix: 'EXPLAIN FORMAT=TRADITIONAL ',
  // The server may execute a subquery to plan the rest: what a function in it writes is rolled back.
  begin: 'START TRANSACTION',
  takesValues: true,
  linesOf: (rows) => rows.map(mysqlStep),
}

const READERS: Readonly<Record<string, PlanReader>> = {
  // Without ANALYZE, nothing is executed. In JSON, the numbers of the planner are apart from the conditions, whose literals are removed.
  postgres: {
    prefix: 'EXPLAIN (FORMAT JSON) ',
    takesValues: true,
    linesOf: ([row]) => postgresPlan(row?.['QUERY PLAN']),
  },
  mysql,
  mariadb: mysql,
  sqlite: { prefix: 'EXPLAIN QUERY PLAN ', takesValues: false, linesOf: sqliteSteps },
}

/** Undefined for a database whose plans cannot be read. */
export function planReaderOf(dialect: string): PlanReader | undefined {
  return READERS[dialect]
}

/** `range on hero using hero_age, rows 12, ref const: Using where` */
function mysqlStep(row: Row): string {
  const text = (column: string) => (row[column] == null ? '' : withoutLiterals(String(row[column]), 'mysql'))
  const part = (before: string, column: string) => (text(column) === '' ? '' : `${before}${text(column)}`)
  const rows = row['rows'] == null ? '' : `, rows ${Number(row['rows'])}`
  return (
    `${text('type') || text('select_type')}${part(' on ', 'table')}${part(' using ', 'key')}${rows}` +
    `${part(', ref ', 'ref')}${row['key'] == null ? part(', possible keys ', 'possible_keys') : ''}${part(': ', 'Extra')}`
  )
}

function sqliteSteps(rows: readonly Row[]): readonly string[] {
  const depths = new Map<unknown, number>()
  return rows.map(({ id, parent, detail }) => {
    const depth = depths.get(parent) ?? 0
    depths.set(id, depth + 1)
    return `${'  '.repeat(depth)}${withoutLiterals(String(detail), 'sqlite')}`
  })
}
