import type { DatabaseFacts } from '../../core/events/channels.js'

/** The value of the label `database`. Queries at startup, before every session, have no description. */
export function databaseLabel({ description, dialect }: DatabaseFacts): string {
  return description || dialect
}
