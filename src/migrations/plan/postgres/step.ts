import type { TableName } from '../../../db/catalog/catalog.js'
import { displayOf } from '../../difference/change.js'
import { quoteText } from '../names.js'
import type { Phase, PlacedStep } from '../planned.js'

/** What a step that takes the strongest lock for as long as it reads or writes the rows does to others. */
export const BLOCKS_ALL = 'nobody reads or writes meanwhile'

/** A step outside of transactions. */
export function alone(table: TableName, phase: Phase, what: string, sql: string, note: string): PlacedStep {
  return { table: displayOf(table), phase, what, note, code: { kind: 'alone', sql } }
}

export function commentOn(what: string, comment: string): string {
  return `COMMENT ON ${what} IS ${quoteText('postgres', comment)}`
}
