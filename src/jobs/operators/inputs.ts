import { Field } from '../../schema/declare/field.js'
import { type JobState, STATES, WAITING, type WaitingState } from '../tables.js'

/*
 * What operators send.
 */

/** An id, and a cursor, which is one. */
export const ID = '^[1-9][0-9]{0,17}$'

export class JobQuery {
  @Field({ type: 'integer', minimum: 1, maximum: 100, default: 25 }) limit!: number
  @Field({ pattern: ID, optional: true, description: 'The `meta.next_cursor` of the page before' })
  next_cursor?: string
  @Field({ enum: STATES, optional: true }) state?: JobState
  @Field({ maxLength: 50, optional: true }) queue?: string
  @Field({ maxLength: 100, optional: true }) name?: string
  @Field({ maxLength: 200, optional: true, description: 'The name and the code of the last error' }) error?: string
}

export class Retry {
  @Field({ enum: ['dead'], description: 'The state in which you have seen it: in another one, it is not changed' })
  state!: 'dead'
}

export class Discard {
  @Field({
    enum: [...WAITING, 'dead'],
    description: 'The state in which you have seen it: in another one, it is not changed',
  })
  state!: WaitingState | 'dead'
}

/** Dead jobs to change, some at a time. */
export class DeadJobs {
  @Field({ minLength: 1, maxLength: 100, example: 'mail.welcome' }) name!: string
  @Field({ maxLength: 200, optional: true, description: 'Only those with this error: its name and its code' })
  error?: string
  @Field({
    type: 'date-time',
    optional: true,
    description: 'Only those that were dead at this time. Default: now. Send the `now` of what you have seen',
  })
  until?: Date
  @Field({ pattern: ID, optional: true, description: 'The `next_cursor` of the last response, with the same `until`' })
  next_cursor?: string
}

/** What was changed. */
export class ChangedJobs {
  @Field({ type: 'integer' }) changed!: number
  @Field({ type: 'integer', description: 'Those that an unfinished job with their key has kept from running again' })
  skipped!: number
  @Field() until!: Date
  @Field({
    type: 'string',
    nullable: true,
    description: 'Send it with `until` for the next ones; null if all are done',
  })
  next_cursor!: string | null
}
