/*
 * What the logs of processes say while they are killed.
 */

export const FENCED = 'fenced'
export const NOT_STARTED = 'did not start'

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/another worker has it/, FENCED],
  [/may be committed: it runs again/, 'commits with an unknown outcome'],
  [/as the worker stops/, 'stopped'],
  [/failed, and runs again/, 'failed'],
  [/is dead/, 'dead'],
  [/cannot reach its jobs/, 'the worker could not reach its jobs'],
]
const PLANNED = /A job fails|JobPostponed|The job runs again in/
const CODE = /deadlock|serializ|40P01|40001|SQLITE_BUSY|ER_LOCK\w+|timeout/i

/** The kind of a line that is counted; undefined for what each run has. */
export function kindOf(line: string): string | undefined {
  const kind = KINDS.find(([pattern]) => pattern.test(line))?.[1]
  if (kind === undefined || kind === FENCED) return kind
  if (kind === 'failed' && PLANNED.test(line)) return 'failed as planned'
  const code = CODE.exec(line)?.[0]
  return code === undefined ? kind : `${kind} (${code})`
}
