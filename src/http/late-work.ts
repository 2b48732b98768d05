/** Logged for callbacks that continue after the response. */
export class LateCallbacks extends Error {
  override name = 'LateCallbacks'

  constructor(cause: unknown) {
    super(
      'A callback of session.afterCommit() or session.afterEnd() has not ended in time; the response is sent without waiting for it. ' +
        'Callbacks count into timeouts.handler. What the client need not wait for belongs in session.afterResponse(); give long work to a queue.',
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
        'Disposers count into timeouts.handler. Set a timeout for what it waits for.',
      { cause },
    )
  }
}

/** Logged for work of session.afterResponse() that continues when the app stops. */
export class UnfinishedWork extends Error {
  override name = 'UnfinishedWork'

  constructor() {
    super(
      'Work of session.afterResponse() has not ended within timeouts.drain while the app closes: what it does not commit at once is ' +
        'rolled back, and the work after it is lost. Set a timeout for what it waits for; give work that must not be lost to a queue.',
    )
  }
}
