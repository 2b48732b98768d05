import { createHash } from 'node:crypto'
import type { Sql } from '../../db/statements/statement.js'
import { displayOf } from '../difference/change.js'
import type { BatchesStep, Migration, Step } from './step.js'

/** The statement as people read it: `?` for each value. */
export function sqlText({ texts }: Pick<Sql, 'texts'>): string {
  return texts.join('?').trim()
}

/** The step as people read it. */
export function stepText(step: Step): string {
  switch (step.kind) {
    case 'sql':
    case 'alone':
      return sqlText(step.statement)
    case 'batches':
      return `${sqlText(step.statement)}   (batches of ${step.size} rows of ${batchTableText(step)}, by ${step.key})`
    case 'run':
      return 'steps.run(...)'
    case 'commit':
      return 'steps.commit()'
  }
}

/** `museum.hero` */
export function batchTableText({ table }: Pick<BatchesStep, 'table'>): string {
  return typeof table === 'string' ? table : displayOf(table)
}

/**
 * A digest of a step: the same for its source and for what is compiled from it, and however the SQL is indented. The functions of `steps.run` are left out, as a
 * compiler changes their text.
 */
export function stepDigest(step: Step): string {
  return digestOf(partsOf(step))
}

/** A digest of all steps. */
export function migrationDigest({ database, steps }: Migration): string {
  return digestOf([database, ...steps.map(stepDigest)])
}

function partsOf(step: Step): readonly unknown[] {
  switch (step.kind) {
    // Whether it stands alone may be changed, and so may the question of a step that does.
    case 'sql':
    case 'alone':
      return ['sql', ...sqlParts(step.statement)]
    case 'batches':
      return ['batches', step.table, step.key, ...sqlParts(step.statement)]
    case 'run':
      return ['run']
    case 'commit':
      return ['commit']
  }
}

function sqlParts({ texts, values }: Sql): readonly unknown[] {
  return [
    texts
      .map((text) => text.replaceAll(/\s+/g, ' '))
      .join('?')
      .trim(),
    values.map(valueText),
  ]
}

// A date as text would have the time zone of the process.
function valueText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner))
}

function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
