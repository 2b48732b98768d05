import assert from 'node:assert/strict'
import type { JobRecord } from 'sequitur/jobs'
import type { Effect } from '../ledger.js'
import type { Entry } from './app.js'

/** The rows at the end. */
export interface Rows {
  readonly entries: readonly Entry[]
  readonly effects: readonly Effect[]
  /** Of the handlers, without those of schedules. */
  readonly jobs: readonly JobRecord[]
}

/** What the clients have received, by number. */
export interface Answers {
  readonly acknowledged: ReadonlySet<number>
  readonly refused: ReadonlySet<number>
}

/** The effects are those of the jobs that were committed, once each. */
export function assertOnce({ entries, effects, jobs }: Rows, { acknowledged, refused }: Answers): void {
  const added = numbersOf(entries)
  const all = new Set(added)
  assert.deepEqual(
    numbersOf(jobs.map(({ input }) => JSON.parse(input) as { number: number })),
    added,
    'a job is there for each handler that was committed',
  )
  assert.deepEqual(numbersOf(effects), added, 'each job has its effect once')
  const lost = [...acknowledged].filter((number) => !all.has(number))
  assert.deepEqual(lost, [], 'no job is lost that was answered')
  const unexpected = added.filter((number) => refused.has(number))
  assert.deepEqual(unexpected, [], 'no job is there that was refused')
  const unfinished = jobs.filter(({ state, worker }) => state !== 'done' || worker !== null)
  assert.deepEqual(unfinished, [], 'each job is done')
}

function numbersOf(rows: readonly { readonly number: number }[]): readonly number[] {
  return rows.map(({ number }) => number).toSorted((a, b) => a - b)
}
