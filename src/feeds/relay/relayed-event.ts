import type { RelayedRow } from './statements.js'

/** A committed event, as a relay gets it. */
export interface RelayedEvent<Type extends string = string, Data = unknown> {
  /** A UUID: the same whenever it is published, so that a broker, or a consumer, drops what it has already. */
  readonly id: string
  /** The name of the event: `hero.saved`. */
  readonly type: Type
  readonly topic: string
  /** Events of one topic have ascending positions, in the order of their commits, unless they have `{ order: 'none' }`. A whole number as text. */
  readonly position: string
  /** As JSON has it: a `Date` is a string. */
  readonly data: Data
  /** By the clock of the database. */
  readonly created: Date
  /** The `traceparent` of the request that published it. */
  readonly trace: string | undefined
  /** The tenant of the session that published it. */
  readonly tenant: string | undefined
}

export function relayedEvent(row: RelayedRow): RelayedEvent {
  const { id, type, topic, payload, feed_tenant, trace } = row
  const data: unknown = JSON.parse(payload)
  const created = new Date(Number(row.created))
  const position = String(row.position)
  return { id, type, topic, position, data, created, trace: trace ?? undefined, tenant: feed_tenant ?? undefined }
}
