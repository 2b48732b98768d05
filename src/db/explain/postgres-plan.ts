import { isRecord } from '../../core/records.js'
import { withoutLiterals } from '../sql/shape.js'

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
