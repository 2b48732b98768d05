import { random } from '../support/fuzz.js'
import { type MemoryRow, sorts } from './model.js'

/*
 * The same lists, of rows in memory.
 */

type Value = MemoryRow[string] | undefined

/** Whether the row fits a filter: SQL's rules, by which a row without a value fits none but `null`. */
export function fits(row: MemoryRow, path: string, operator: string, wanted: readonly Exclude<Value, null>[]): boolean {
  const value = row[path] ?? null
  const [first] = wanted
  if (operator === 'null') return (value === null) === first
  if (value === null || first === undefined) return false
  switch (operator) {
    case 'eq':
      return value === first
    case 'ne':
      return value !== first
    case 'in':
      return wanted.includes(value)
    case 'lt':
      return value < first
    case 'lte':
      return value <= first
    case 'gt':
      return value > first
    case 'gte':
      return value >= first
    case 'contains':
      return String(value).includes(String(first))
    default:
      return String(value).startsWith(String(first))
  }
}

/** The rows in this order, with rows without a value at the end, and by their ids in the direction of the last column. */
export function sorted(rows: readonly MemoryRow[], sort: readonly string[]): MemoryRow[] {
  const last = sort.at(-1)?.startsWith('-') ? '-id' : 'id'
  return rows.toSorted((a, b) => {
    for (const item of [...sort, last]) {
      const path = item.replace(/^-/, '')
      const order = compare(a[path] ?? null, b[path] ?? null, item.startsWith('-') ? -1 : 1)
      if (order !== 0) return order
    }
    return 0
  })
}

function compare(a: Exclude<Value, undefined>, b: Exclude<Value, undefined>, direction: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return a === b ? 0 : (a < b ? -1 : 1) * direction
}

/** A query as it is sent, and what it means. */
export interface Query {
  readonly search: URLSearchParams
  readonly filters: readonly { readonly path: string; readonly operator: string; readonly values: never[] }[]
  readonly sort: readonly string[]
}

const ORDERED = ['eq', 'ne', 'in', 'lt', 'lte', 'gt', 'gte']
const TEXT = ['eq', 'ne', 'in', 'contains', 'startsWith']

/** Columns with the values that queries send for them, and the same values in memory. */
const COLUMNS: readonly {
  readonly path: string
  readonly operators: readonly string[]
  readonly values: readonly (string | readonly [sent: string, value: unknown])[]
}[] = [
  { path: 'id', operators: ORDERED, values: numbers(0, 7, 30, 59, 1000, -1) },
  {
    path: 'name',
    operators: TEXT,
    values: ['robin', 'Robin', 'rob%n', '%', '_', 'rob\\', "'", 'ö', '🦇', 'a,b', '$1', 'o'],
  },
  { path: 'motto', operators: [...TEXT, 'null'], values: ['Up', 'up, up', 'UP%', '\\', '"', 'İ', 'i', 'ss', 'ß'] },
  { path: 'age', operators: ORDERED, values: numbers(0, 1, 4, 8, 9, -2147483648) },
  { path: 'score', operators: [...ORDERED, 'null'], values: numbers(-3, 0, 1, 2147483647) },
  {
    path: 'steps',
    operators: [...ORDERED, 'null'],
    values: ['0', '-5', '9007199254740993', '9007199254740992'].map((text) => [text, BigInt(text)] as const),
  },
  { path: 'fee', operators: [...ORDERED, 'null'], values: numbers(0.5, 12.25, -1, 99999, 100000) },
  { path: 'weight', operators: ['lt', 'gte'], values: numbers(0, 1.5, -2.25, 1e-7) },
  {
    path: 'active',
    operators: ['eq', 'ne', 'null'],
    values: [
      ['true', true],
      ['false', false],
    ],
  },
  { path: 'size', operators: ['eq', 'ne', 'in', 'null'], values: ['small', 'big'] },
  { path: 'born', operators: [...ORDERED, 'null'], values: ['1999-12-31', '2000-01-01', '2024-02-29', '2100-01-01'] },
  {
    path: 'seen',
    operators: ORDERED,
    values: ['2024-01-01', '2024-01-02', '2024-01-04'].map(
      (day) => [`${day}T13:00:00+01:00`, `${day}T12:00:00.000Z`] as const,
    ),
  },
  {
    path: 'badge',
    operators: ['eq', 'ne', 'in'],
    values: [0, 3, 9].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`),
  },
  {
    path: 'code',
    operators: ['eq', 'ne', 'in', 'null'],
    values: ['ab', ['ab ', 'ab'], 'ab!', 'a', ['    ', '']],
  },
  { path: 'wakes', operators: [...ORDERED, 'null'], values: ['00:00:00', '06:30:00', '06:30:01', '23:59:59'] },
  { path: 'team.city', operators: [...TEXT, 'null'], values: ['oslo', 'Oslo', 'os', 'bern', 'e'] },
  { path: 'team.country.name', operators: ['eq', 'contains', 'null'], values: ['norway', 'Norway', 'way'] },
]

function numbers(...values: readonly number[]) {
  return values.map((value) => [String(value), value] as const)
}

/** Orders whose collation differs between databases. */
export const TEXTS: ReadonlySet<string> = new Set(['name', 'team.city', '-name', '-team.city'])

/** Makes queries that a client may send. The same seed makes the same ones. */
export function queries(seed: number): () => Query {
  const next = random(seed)
  const pick = <T>(list: readonly T[]): T => list[next(list.length)] as T
  return () => {
    const search = new URLSearchParams()
    const filters: Query['filters'][number][] = []
    for (let count = next(4); count > 0; count--) {
      const { path, operators, values } = pick(COLUMNS)
      const operator = pick(operators)
      const name = `filter[${path}][${operator}]`
      if (search.has(name)) continue
      const known =
        operator === 'null'
          ? ([
              ['true', true],
              ['false', false],
            ] as const)
          : values
      const chosen = Array.from({ length: operator === 'in' ? 1 + next(3) : 1 }, () => pick(known))
      for (const value of chosen) search.append(name, typeof value === 'string' ? value : value[0])
      filters.push({
        path,
        operator,
        values: chosen.map((value) => (typeof value === 'string' ? value : value[1])) as never[],
      })
    }
    const sortable = sorts.filter((path) => path !== 'size')
    const paths = [...new Set(Array.from({ length: next(4) }, () => pick(sortable)))]
    const sort = paths.map((path) => (next(2) === 0 ? path : `-${path}`))
    if (sort.length > 0) search.set('sort', sort.join())
    if (next(4) === 0) search.set('include', pick(['team', 'powers', 'team.country', 'powers,team']))
    return { search, filters, sort }
  }
}
