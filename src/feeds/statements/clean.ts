import { groupedBy } from '../../core/records.js'
import { joined, type TypedSql } from '../../db/own-tables/typed-sql.js'
import { type Sql, sql } from '../../db/statements/statement.js'

/** An event, as its table identifies it. */
export interface OldEvent {
  readonly topic_key: string
  readonly position: string | number
}

/** Up to where a relay has published: of all topics, or of one of them. */
export interface PassedRow {
  /** Where positions are those of one sequence. */
  readonly position: string | number
  readonly topic_key: string | null
  /** Of the topic; null if it has not published it, or has no offsets for topics. */
  readonly of_topic: string | number | null
  readonly name: string
}

/** What deletes old events. */
export function cleanStatements(on: TypedSql) {
  const oldest = (age: number, most: number) =>
    sql<OldEvent>`SELECT topic_key, position FROM feed_event WHERE created < ${on.now} - ${on.big(age)} ORDER BY created, topic_key, position LIMIT ${on.limit(most)}`
  return {
    /** The oldest event of those that are older, in milliseconds. */
    oldest: (age: number): Sql<OldEvent> => oldest(age, 1),

    /** The oldest of them. They are locked; those that another process deletes are left out. */
    old: (age: number, most: number): Sql<OldEvent> => sql`${oldest(age, most)} ${on.skipLocked}`,

    /** What the relays have published; of these topics, where each has positions of its own. */
    passed(topicKeys: readonly string[]): Sql<PassedRow> {
      const topics = sql`LEFT JOIN feed_relay_topic topic ON topic.relay = relay.name AND topic.topic_key IN (${on.texts(topicKeys)})`
      return sql`SELECT relay.name AS name, relay.position AS position, topic.topic_key AS topic_key, topic.position AS of_topic FROM feed_relay relay ${topics}`
    },

    /** Notes what is deleted of each topic, and deletes it. The topics are locked in one order. */
    delete(events: readonly OldEvent[]): readonly Sql<unknown>[] {
      const byTopic = [...groupedBy(events, ({ topic_key }) => topic_key)].sort(([a], [b]) => (a < b ? -1 : 1))
      const rows = byTopic.map(([key, ofTopic]) => sql`(${on.text(key)}, 0, ${on.big(lastOf(ofTopic))})`)
      const those = byTopic.map(([key, ofTopic]) => {
        const positions = ofTopic.map(({ position }) => String(position))
        return sql`(topic_key = ${on.text(key)} AND position IN (${on.ids(positions)}))`
      })
      const insert = sql`INSERT INTO feed_topic (topic_key, position, deleted) VALUES ${joined(rows, ', ')}`
      const note = on.isMysql
        ? sql`${insert} ON DUPLICATE KEY UPDATE deleted = GREATEST(deleted, VALUES(deleted))`
        : on.isPostgres
          ? sql`${insert} ON CONFLICT (topic_key) DO UPDATE SET deleted = GREATEST(feed_topic.deleted, excluded.deleted)`
          : sql`${insert} ON CONFLICT (topic_key) DO UPDATE SET deleted = MAX(feed_topic.deleted, excluded.deleted)`
      return [note, sql`DELETE FROM feed_event WHERE ${joined(those, ' OR ')}`]
    },
  }
}

function lastOf(events: readonly OldEvent[]): string {
  return events
    .map(({ position }) => BigInt(position))
    .reduce((last, position) => (position > last ? position : last))
    .toString()
}
