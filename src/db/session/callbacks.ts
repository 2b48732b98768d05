import type { Report } from '../../core/bracket.js'

/** Calls what waits for the end of a session, one after the other. Never throws: errors are reported, and the next is called. */
export async function callAll(
  afterCommit: readonly (() => unknown)[],
  afterEnd: readonly (() => Promise<unknown>)[],
  runInOwnSession: (work: () => Promise<unknown>) => Promise<unknown>,
  report: Report,
): Promise<void> {
  const failed = (what: string) => (cause: unknown) => report(new Error(what, { cause }))
  for (const callback of afterCommit)
    await attempt(callback, failed('An afterCommit callback failed. The transaction was committed before.'))
  for (const work of afterEnd)
    await attempt(
      () => runInOwnSession(work),
      failed('Work of session.afterEnd() failed: its own transaction was rolled back.'),
    )
}

async function attempt(callback: () => unknown, onError: (error: unknown) => void): Promise<void> {
  try {
    await callback()
  } catch (error) {
    onError(error)
  }
}
