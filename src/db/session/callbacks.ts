import type { LateWork, Report } from '../../core/bracket.js'

type Work = () => Promise<unknown>

/** Calls what waits for the end of a session, one after the other. Never throws: errors are reported, and the next is called. */
export class Callbacks {
  readonly #runInOwnSession: (work: Work, report: Report) => Promise<unknown>
  readonly #report: Report

  constructor(runInOwnSession: (work: Work, report: Report) => Promise<unknown>, late: LateWork) {
    this.#runInOwnSession = runInOwnSession
    this.#report = (error) => late.report(error)
  }

  /** @param runLast undefined if the rest runs later. */
  async run(
    afterCommit: readonly (() => unknown)[],
    afterEnd: readonly Work[],
    runLast: (() => Promise<void>) | undefined,
  ): Promise<void> {
    for (const callback of afterCommit)
      await this.#attempt(callback, 'An afterCommit callback failed. The transaction was committed before.')
    await this.runEach('afterEnd', afterEnd)
    await runLast?.()
  }

  /** Runs the work of a method of the session, each in a session of its own. */
  async runEach(method: 'afterEnd' | 'afterResponse', all: readonly Work[]): Promise<void> {
    for (const work of all)
      await this.#attempt(
        () => this.#runInOwnSession(work, this.#report),
        `Work of session.${method}() failed: its own transaction was rolled back.`,
      )
  }

  async #attempt(callback: () => unknown, failed: string): Promise<void> {
    try {
      await callback()
    } catch (cause) {
      this.#report(new Error(failed, { cause }))
    }
  }
}
