import { joined, type TypedSql } from '../../db/own-tables/typed-sql.js'
import { rawSql, type Sql, sql } from '../../db/statements/statement.js'

/** An event, as drivers return it. */
export interface EventRow {
  readonly topic_key: string
  readonly position: string | number
  readonly topic: string
  readonly id: string
  readonly type: string
  /** Parsed, or text. */
  readonly payload: unknown
  readonly created: string | number
  /** Bytes of the payload, as text. */
  readonly size: string | number
}

/** What is known of a topic, as drivers return it. */
export interface TopicRow {
  readonly topic_key: string
  /** Null without an event. */
  readonly head: string | number | null
  /** Null if nothing was deleted. */
  readonly deleted: string | number | null
}

/** A place in a topic: what comes after it is to be read. */
export interface Place {
  readonly key: string
  readonly position: number
}

/** Events that one statement reads at most, of one topic and of all, and the bytes of all: at least one of each topic is read. */
const MOST_OF_TOPIC = 500
const MOST_EVENTS = 1_000
const MOST_BYTES = 1_048_576

/** What reads events. */
export function readStatements(on: TypedSql) {
  const size = rawSql(
    on.isPostgres
      ? 'octet_length(CAST(payload AS TEXT))'
      : on.isMysql
        ? 'LENGTH(payload)'
        : 'LENGTH(CAST(payload AS BLOB))',
  )
  const page = ({ key, position }: Place, most: number, mostBytes: number) => {
    const columns = rawSql('topic_key, position, topic, id, type, payload, created')
    const rows = sql`SELECT ${columns}, ${size} AS size FROM feed_event WHERE topic_key = ${on.text(key)} AND position > ${on.big(position)} ORDER BY position LIMIT ${on.limit(most)}`
    const before = rawSql('SUM(size) OVER (ORDER BY position) - size AS bytes_before')
    return sql`SELECT ${columns}, size FROM (SELECT page.*, ${before} FROM (${rows}) page) counted WHERE bytes_before < ${rawSql(String(mostBytes))}`
  }
  return {
    /** The next events after each place, in their order. */
    pages(places: readonly Place[]): Sql<EventRow> {
      const most = Math.min(MOST_OF_TOPIC, Math.ceil(MOST_EVENTS / places.length))
      const mostBytes = Math.ceil(MOST_BYTES / places.length)
      const all = joined(
        places.map((place) => sql`SELECT * FROM (${page(place, most, mostBytes)}) topic_page`),
        ' UNION ALL ',
      )
      return sql<EventRow>`SELECT * FROM (${all}) pages ORDER BY topic_key, position`
    },

    /** The last position of each topic, and the last that was deleted. */
    topics(keys: readonly string[]): Sql<TopicRow> {
      const named = joined(
        keys.map((key) => sql`SELECT ${on.text(key)} AS topic_key`),
        ' UNION ALL ',
      )
      const head = rawSql(
        'SELECT e.position FROM feed_event e WHERE e.topic_key = k.topic_key ORDER BY e.position DESC LIMIT 1',
      )
      const deleted = rawSql('SELECT t.deleted FROM feed_topic t WHERE t.topic_key = k.topic_key')
      return sql<TopicRow>`SELECT k.topic_key, (${head}) AS head, (${deleted}) AS deleted FROM (${named}) k`
    },
  }
}
