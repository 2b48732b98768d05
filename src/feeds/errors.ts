import type { Issue } from '../schema/shape/issue.js'
import { describeIssues } from '../schema/stored-data.js'

/** The data that was given to `feeds.publish()` is not what the class declares, or too large. Nothing is published. `issues` are at most 20. */
export class InvalidEventData extends TypeError {
  override name = 'InvalidEventData'
  readonly issues: readonly Issue[]

  constructor(event: string, issues: readonly Issue[], options?: ErrorOptions) {
    super(`The data of the event ${event} does not fit its class: ${describeIssues(issues)}.`, options)
    this.issues = issues
  }
}

/** The stored data of an event does not fit its class, which has changed since the event was published. */
export class UnreadableEventData extends Error {
  override name = 'UnreadableEventData'
  readonly issues: readonly Issue[]

  constructor(event: string, issues: readonly Issue[]) {
    super(`The stored data of the event ${event} does not fit its class: ${describeIssues(issues)}.`)
    this.issues = issues
  }
}
