import { joined, TypedSql } from '../../db/own-tables/typed-sql.js'
import { rawSql, type Sql, sql } from '../../db/statements/statement.js'

/** An event of any topic, as drivers return it. */
export interface RelayedRow {
  readonly position: string | number
  readonly id: string
  readonly topic: string
  readonly topic_key: string
  readonly type: string
  readonly payload: string
  readonly feed_tenant: string | null
  readonly trace: string | null
  readonly created: string | number
}

/** A relay, for operators. */
export interface RelayRow {
  readonly name: string
  readonly failures: number
  readonly error: string | null
  /** 1 if a process runs it. */
  readonly taken: number | string
}

/** Who runs a relay, and for how long. */
export interface RelayTaking {
  readonly name: string
  readonly taker: string
  /** Milliseconds. */
  readonly lease: number
}

/** A part of the events of a topic: after a position, up to another one. */
export interface TopicPart {
  readonly topic_key: string
  readonly after: string
  readonly upTo: string
}

/** A topic with events that a relay has not seen. */
export interface MovedTopic {
  readonly topic_key: string
  /** That of its last event. */
  readonly last: string | number
  /** Up to which the relay has seen them. */
  readonly seen: string | number
}

export type RelayStatements = ReturnType<typeof relayStatements>

/** The SQL of relays, in the language of one database. @param dialect as Sequelize names it: `postgres`. */
export function relayStatements(dialect: string) {
  const on = new TypedSql(dialect)
  return {
    ...leaseStatements(on),
    ...positionStatements(on),
    ...topicStatements(on),

    /** All relays, for operators. */
    all: sql<RelayRow>`SELECT name, failures, error, CASE WHEN valid_until >= ${on.now} THEN 1 ELSE 0 END AS taken FROM feed_relay ORDER BY name`,
  }
}

/** The row of a relay: which process runs it. */
function leaseStatements(on: TypedSql) {
  const returning = returningName(on)
  return {
    /** Adds the row of a relay, which begins with the oldest event. */
    add(name: string): Sql {
      const row = sql`${on.text(name)}, 0, 0, 0, ${on.now}`
      const insert = sql`INSERT INTO feed_relay (name, position, valid_until, failures, updated) VALUES (${row})`
      return on.isMysql
        ? sql`${insert} ON DUPLICATE KEY UPDATE position = feed_relay.position`
        : sql`${insert} ON CONFLICT (name) DO NOTHING`
    },

    /** Takes a relay that no one has, or whose lease has ended; also one that this process has, and believes to have lost. */
    take({ name, taker, lease }: RelayTaking): Sql {
      const free = sql`(taken_by IS NULL OR taken_by = ${on.text(taker)} OR valid_until < ${on.now})`
      const set = sql`taken_by = ${on.text(taker)}, valid_until = ${on.now} + ${on.big(lease)}`
      return sql`UPDATE feed_relay SET ${set} WHERE name = ${on.text(name)} AND ${free} ${returning}`
    },

    renew({ lease, ...taking }: RelayTaking): Sql {
      const until = sql`${on.now} + ${on.big(lease)}`
      return sql`UPDATE feed_relay SET valid_until = ${until} WHERE ${takenBy(on, taking)} ${returning}`
    },

    /** Another process may take it at once. */
    release(taking: RelayTaking): Sql {
      return sql`UPDATE feed_relay SET taken_by = NULL, valid_until = 0 WHERE ${takenBy(on, taking)}`
    },

    fail(taking: RelayTaking, error: string): Sql {
      const set = sql`failures = failures + 1, error = ${on.text(error)}, updated = ${on.now}`
      return sql`UPDATE feed_relay SET ${set} WHERE ${takenBy(on, taking)}`
    },
  }
}

/** The offset of a relay for all topics, and the events after it. */
function positionStatements(on: TypedSql) {
  return {
    /** Its offset. */
    offset(name: string): Sql<{ readonly position: string | number }> {
      return sql`SELECT position FROM feed_relay WHERE name = ${on.text(name)}`
    },

    /** Writes the offset, if the relay is still taken. */
    advance(taking: RelayTaking, position: string): Sql {
      // The lease too: where an UPDATE tells how many rows it has changed, one must have changed.
      const set = sql`position = ${on.big(position)}, valid_until = ${on.now} + ${on.big(taking.lease)}, failures = 0, error = NULL, updated = ${on.now}`
      return sql`UPDATE feed_relay SET ${set} WHERE ${takenBy(on, taking)} ${returningName(on)}`
    },

    /** The last event that is visible. */
    last: sql<{ readonly last: string | number | null }>`SELECT max(position) AS last FROM feed_event`,

    /** The events of these types after a position, up to another one. */
    between(types: readonly string[], after: string, upTo: string, most: number): Sql<RelayedRow> {
      const range = sql`position > ${on.big(after)} AND position <= ${on.big(upTo)}`
      return sql`SELECT ${columnsOf(on)} FROM feed_event WHERE ${range} AND type IN (${on.texts(types)}) ORDER BY position LIMIT ${on.limit(most)}`
    },
  }
}

/** The offsets of a relay for each topic, and the events after them. */
function topicStatements(on: TypedSql) {
  return {
    /**
     * The next topics, in the order of their keys, that have events which the relay has not seen.
     *
     * @param age milliseconds: only topics with events that were inserted since then. Undefined for all topics.
     */
    movedTopics(relay: string, afterKey: string, most: number, age: number | undefined): Sql<MovedTopic> {
      const seen = sql`COALESCE(seen.position, 0)`
      const since = sql`SELECT DISTINCT topic_key FROM feed_event WHERE created > ${on.now} - ${on.big(age ?? 0)}`
      const topics = sql`feed_topic topic`
      const from =
        age === undefined ? topics : sql`(${since}) recent JOIN ${topics} ON topic.topic_key = recent.topic_key`
      const join = sql`LEFT JOIN feed_relay_topic seen ON seen.relay = ${on.text(relay)} AND seen.topic_key = topic.topic_key`
      const where = sql`topic.topic_key > ${on.text(afterKey)} AND topic.position > ${seen}`
      return sql`SELECT topic.topic_key AS topic_key, topic.position AS last, ${seen} AS seen FROM ${from} ${join} WHERE ${where} ORDER BY topic.topic_key LIMIT ${on.limit(most)}`
    },

    /** The events of these types in parts of topics: those of a topic in their order. */
    inTopics(types: readonly string[], parts: readonly TopicPart[], most: number): Sql<RelayedRow> {
      const ranges = parts.map(
        ({ topic_key, after, upTo }) =>
          sql`(topic_key = ${on.text(topic_key)} AND position > ${on.big(after)} AND position <= ${on.big(upTo)})`,
      )
      return sql`SELECT ${columnsOf(on)} FROM feed_event WHERE (${joined(ranges, ' OR ')}) AND type IN (${on.texts(types)}) ORDER BY topic_key, position LIMIT ${on.limit(most)}`
    },

    advanceTopics(relay: string, topics: readonly TopicPart[]): Sql {
      const rows = topics.map(({ topic_key, upTo }) => sql`(${on.text(relay)}, ${on.text(topic_key)}, ${on.big(upTo)})`)
      const insert = sql`INSERT INTO feed_relay_topic (relay, topic_key, position) VALUES ${joined(rows, ', ')}`
      return on.isMysql
        ? sql`${insert} ON DUPLICATE KEY UPDATE position = VALUES(position)`
        : sql`${insert} ON CONFLICT (relay, topic_key) DO UPDATE SET position = excluded.position`
    },
  }
}

function takenBy(on: TypedSql, { name, taker }: Pick<RelayTaking, 'name' | 'taker'>): Sql {
  return sql`name = ${on.text(name)} AND taken_by = ${on.text(taker)}`
}

function columnsOf(on: TypedSql): Sql {
  const payload = rawSql(on.isPostgres ? 'CAST(payload AS TEXT) AS payload' : 'payload')
  return sql`position, id, topic, topic_key, type, ${payload}, feed_tenant, trace, created`
}

/** Ends a statement that changes the row of a relay: its name, where the database returns it. */
function returningName(on: TypedSql): Sql {
  return rawSql(on.isMysql ? '' : 'RETURNING name')
}
