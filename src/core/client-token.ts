/** The token that a unit of work leaves with the client, which sends it back with its next requests: the position of its last commit. One for each database. */
export interface ClientToken {
  /**
   * The text that an earlier unit has sent. Undefined if the client has sent nothing, or what is no longer valid. Empty if it cannot be read: that of a process
   * with another secret, for example.
   */
  readonly received: string | undefined
  /** Sends a text with the response, if that reports no error. Empty: something was committed, nothing more is known. Called after COMMIT. */
  send(text: string): void
}

/** Where clients keep tokens. */
export type ClientTokenPlace = 'cookie' | 'header'
