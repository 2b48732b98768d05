import type { TableName } from '../../db/catalog/catalog.js'
import { displayOf } from '../difference/change.js'
import type { RewrittenColumn } from './advice.js'

/** A migration file to be written. */
export interface PlannedFile {
  /** Whether it deletes what versions of the program that still run may need: its name ends in `-contract`. */
  readonly contract: boolean
  readonly steps: readonly PlannedStep[]
}

export interface PlannedStep {
  /** `hero` */
  readonly table: string
  /** `add column power VARCHAR(50) NULL` */
  readonly what: string
  /** What it does to those who read and write the table: `at once`, `reads 1.2 M rows, blocks nobody`. */
  readonly note: string
  readonly code: StepCode
  /** Whether the transaction of the steps before it ends first: their tables are locked until then. */
  readonly isApart?: boolean
  /** Whether it belongs to the step before, or after, which says for both what is done. */
  readonly isPart?: boolean
  /** The columns whose new types have it write all rows again. */
  readonly rewritten?: readonly RewrittenColumn[]
  /** What may be done afterwards, in lines for people. */
  readonly advice?: readonly string[]
}

/** How the step is written in the file. `done` is a query that returns a row once the step was executed. */
export type StepCode =
  | { readonly kind: 'sql'; readonly sql: string }
  | { readonly kind: 'alone'; readonly sql: string; readonly done?: string; readonly again?: true }
  | { readonly kind: 'batches'; readonly table: TableName; readonly key: string; readonly sql: string }

/** The rows of one of the steps in batches. */
export const BATCH_SIZE = 1_000

/** The order of the steps of a file: each phase may need those before it. */
export const PHASES = [
  'renames',
  'types',
  'tables',
  'columns',
  'values',
  'not null',
  'uniques',
  'indexes',
  'foreign keys',
  'limits',
  'drops of keys',
  'drops of columns',
  'drops of tables',
  'drops of types',
] as const

export type Phase = (typeof PHASES)[number]

/** A step with its place. */
export interface PlacedStep extends PlannedStep {
  readonly phase: Phase
}

export const AT_ONCE = 'at once'

export const BLOCKS_NOBODY = 'blocks nobody'

export const BLOCKS_WRITERS = 'nobody writes meanwhile'

/** A statement that is in one transaction with those next to it, where tables are changed in transactions. Elsewhere whoever runs it notes that it is done. */
export function sqlStep(table: TableName, phase: Phase, what: string, sql: string, note: string = AT_ONCE): PlacedStep {
  return { table: displayOf(table), phase, what, note, code: { kind: 'sql', sql } }
}

/** `reads 1.2 M rows, blocks nobody` */
export function reads(rows: number | undefined, consequence: string = BLOCKS_NOBODY): string {
  return `reads ${rowsText(rows)}, ${consequence}`
}

/** `rewrites 3,000 rows, nobody reads or writes meanwhile` */
export function rewrites(rows: number | undefined, consequence: string): string {
  return `rewrites ${rowsText(rows)}, ${consequence}`
}

/** `1 row has NULL`, `3 rows have NULL` @param verb of several and of one: `have/has` */
export function rowsThat(rows: number, verb: string, rest: string): string {
  const [several = '', one = ''] = verb.split('/')
  return `${rowsText(rows)} ${rows === 1 ? one : several} ${rest}`
}

/** Where statistics are older, and small tables have none, rows are counted up to one more than this. */
export const COUNTED_ROWS = 100_000

/** `1.2 M rows`, `3,000 rows`, `more than 100,000 rows`; `all rows` if it is not known how many there are. */
export function rowsText(rows: number | undefined): string {
  if (rows === undefined) return 'all rows'
  if (rows === 1) return '1 row'
  if (rows === COUNTED_ROWS + 1) return `more than ${rowsText(COUNTED_ROWS)}`
  if (rows < 1_000_000) return `${rows.toLocaleString('en-US')} rows`
  return `${(rows / 1_000_000).toLocaleString('en-US', { maximumFractionDigits: 1 })} M rows`
}
