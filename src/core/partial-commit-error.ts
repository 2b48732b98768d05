/** The outcome of each unit of work of a handler when the commit of one failed. */
export interface PartialCommit {
  /** The names of the units whose work is saved. */
  readonly committed: readonly string[]
  /** The name of the unit whose commit failed. */
  readonly failed: string
  /** Whether its commit was not answered, so that its work may be saved as well. */
  readonly isUnknown?: boolean
  /** The names of the units that were rolled back after it. */
  readonly rolledBack: readonly string[]
}

/**
 * A part of the work of a handler is saved: it has worked in several databases, and a commit failed after another had succeeded, or a procedure that it
 * called has committed. `cause` is the error of the failed commit, or of the handler.
 */
export class PartialCommitError extends Error implements PartialCommit {
  override name = 'PartialCommitError'
  readonly committed: readonly string[]
  readonly failed: string
  readonly isUnknown: boolean
  readonly rolledBack: readonly string[]

  /** @param what describes how it came to this. By default it is the COMMIT of `failed` that has failed. */
  constructor(
    { committed, failed, isUnknown = false, rolledBack }: PartialCommit,
    cause: unknown,
    what = isUnknown ? `COMMIT was not answered, and may have succeeded: ${failed}.` : `COMMIT failed: ${failed}.`,
  ) {
    const undone = rolledBack.length === 0 ? '' : ` Rolled back: ${rolledBack.join(', ')}.`
    const saved = isUnknown && rolledBack.length === 0 ? 'Perhaps only a part' : 'Only a part'
    super(
      `${saved} was saved, and running the same work again would save that part twice. ` +
        `Committed: ${committed.join(', ')}. ${what}${undone}`,
      { cause },
    )
    this.committed = committed
    this.failed = failed
    this.isUnknown = isUnknown
    this.rolledBack = rolledBack
  }
}
