import { withoutLiterals } from '../sql/shape.js'
import { isRecord } from '../../core/records.js'

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

type Properties = Readonly<Record<string, unknown>>

/** The keys that the first line of a step shows already, and those that would be noise. */
const NOT_LISTED: ReadonlySet<string> = new Set([
  'Node Type',
  'Operation',
  'Join Type',
  'Index Name',
  'Relation Name',
  'Alias',
  'Schema',
  'Parent Relationship',
  'Scan Direction',
  'Strategy',
  'Partial Mode',
])

/** The lines of a plan of PostgreSQL in JSON, without the literals of its conditions. */
export function postgresPlan(plan: unknown): readonly string[] {
  const parsed: unknown = typeof plan === 'string' ? JSON.parse(plan) : plan
  const [first]: readonly unknown[] = Array.isArray(parsed) ? parsed : []
  return isRecord(first) && isRecord(first['Plan']) ? linesOf(first['Plan'], '') : []
}

function linesOf(step: Properties, indent: string): readonly string[] {
  const steps: readonly unknown[] = Array.isArray(step['Plans']) ? step['Plans'] : []
  return [
    `${indent}${titleOf(step)}`,
    ...conditionsOf(step).map((condition) => `${indent}    ${condition}`),
    ...steps.flatMap((inner) => (isRecord(inner) ? linesOf(inner, `${indent}  `) : [])),
  ]
}

/** `Index Scan using hero_pkey on hero (cost 0.15..8.17, rows 1)` */
function titleOf(step: Properties): string {
  const part = (before: string, name: string) => (step[name] === undefined ? '' : `${before}${masked(step[name])}`)
  const kind = step['Operation'] === undefined ? 'Node Type' : 'Operation' // of a ModifyTable: Insert, Update, Delete
  const alias = step['Alias'] === step['Relation Name'] ? '' : part(' ', 'Alias')
  const [startup, total, rows] = ['Startup Cost', 'Total Cost', 'Plan Rows'].map((name) => Number(step[name]))
  return (
    `${part('', kind)}${part(' ', 'Strategy')}${part(' ', 'Join Type')}${part(' using ', 'Index Name')}` +
    `${part(' on ', 'Relation Name')}${alias} (cost ${startup}..${total}, rows ${rows})`
  )
}

/** `Filter: (age > ?)`. All texts of the step: extensions have names of their own. */
function conditionsOf(step: Properties): readonly string[] {
  return Object.entries(step).flatMap(([name, value]) => {
    if (NOT_LISTED.has(name)) return []
    const texts: readonly unknown[] = Array.isArray(value) ? value : [value]
    return texts.length > 0 && texts.every((text) => typeof text === 'string')
      ? [`${name}: ${texts.map(masked).join(', ')}`]
      : []
  })
}

function masked(text: unknown): string {
  // In a plan, a number after a colon is no placeholder, but the end of a slice: tags[1:9].
  return withoutLiterals(String(text), 'postgres').replaceAll(/:\s*\d+/g, ':?')
}
