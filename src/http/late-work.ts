/** Logged for callbacks that continue after the response. */
export class LateCallbacks extends Error {
  override name = 'LateCallbacks'

  constructor(cause: unknown) {
    super(
      'A callback of session.afterCommit() or session.afterEnd() has not ended in time; the response is sent without waiting for it. ' +
        'Callbacks count into timeouts.handler. Give long work to a queue, or set a limit to it.',
      { cause },
    )
  }
}

/** Logged for a disposer that continues after the response. */
export class LateDisposal extends Error {
  override name = 'LateDisposal'

  constructor(what: string | undefined, cause: unknown) {
    super(
      `The disposer of ${what ?? 'a service of the request'} has not ended in time; the response is sent without waiting for it. ` +
        'Disposers count into timeouts.handler. Set a limit to what it waits for.',
      { cause },
    )
  }
}
