import { fixed, joined, type TypedSql } from '../../db/own-tables/typed-sql.js'
import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import { chunksOf, groupedBy } from '../../core/records.js'
import { LOCK_CLASS, lockOf } from '../topic.js'

/** An event to insert. */
export interface NewEvent {
  readonly topic: string
  readonly topicKey: string
  readonly id: string
  readonly aggregate: string
  readonly type: string
  readonly isOrdered: boolean
  /** As JSON. */
  readonly payload: string
  readonly tenant: string | undefined
  readonly trace: string | undefined
}

/** The lock of events without an order: the first of all, as locks are taken in their order. */
const UNORDERED = -(2 ** 31)
/** Rows of one INSERT: a statement has a limited number of parameters. */
const MOST_ROWS = 100

const COLUMNS = 'topic_key, topic, id, aggregatetype, aggregateid, type, payload, feed_tenant, trace, created'

/** What writes events, immediately before COMMIT. */
export function publishStatements(on: TypedSql) {
  return {
    /**
     * Positions are given under the lock of the topic, which is held until the commit is visible: in the order of the commits. Topics are locked in one order, and
     * nothing but COMMIT follows: no two transactions wait for each other, unless COMMIT itself locks rows for deferred constraints.
     *
     * @param isCounted whether the rows of topics count their positions.
     */
    publish(events: readonly NewEvent[], isCounted: boolean): readonly Sql<unknown>[] {
      if (on.isSqlite) return inserts(on, events) // one transaction writes at a time
      const [first] = events
      if (!isCounted && first?.isOrdered && events.length === 1) return [insertLocked(first)]
      if (!isCounted) return [...locks(on, events), ...inserts(on, events)]
      return [...groupedBy(events, ({ topicKey }) => topicKey)]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([key, ofTopic]) => chunksOf(ofTopic, MOST_ROWS).flatMap((some) => insertCounted(on, key, some)))
    },
  }
}

const CLOCK_OF_POSTGRES = rawSql('CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)')

/** The values of a row. @param position with a comma; empty where the table gives it. */
function row(on: TypedSql, event: NewEvent, position: Sql): Sql {
  const { topicKey, topic, id, aggregate, type, tenant, trace } = event
  const now = on.isPostgres ? CLOCK_OF_POSTGRES : on.now
  const payload = on.isPostgres ? sql`CAST(${event.payload} AS JSONB)` : sql`${event.payload}`
  const uuid = on.isPostgres ? sql`CAST(${id} AS UUID)` : sql`${id}`
  const names = sql`${on.text(topicKey)}, ${on.text(topic)}, ${uuid}, ${on.text(aggregate)}, ${on.text(topic)}, ${on.text(type)}`
  return sql`(${position}${names}, ${payload}, ${on.text(tenant)}, ${on.text(trace)}, ${now})`
}

function inserts(on: TypedSql, events: readonly NewEvent[]): readonly Sql<unknown>[] {
  return chunksOf(events, MOST_ROWS).map((some) => {
    const rows = some.map((event) => row(on, event, rawSql('')))
    return fixed(sql`INSERT INTO feed_event (${rawSql(COLUMNS)}) VALUES ${joined(rows, ', ')}`)
  })
}

/** Inserts the events of a topic, whose row counts their positions. */
function insertCounted(on: TypedSql, topicKey: string, events: readonly NewEvent[]): readonly Sql<unknown>[] {
  const counted = on.isMysql
    ? sql`LAST_INSERT_ID()`
    : sql`(SELECT position FROM feed_topic WHERE topic_key = ${on.text(topicKey)})`
  const rows = events.map((event, n) => row(on, event, sql`${counted} - ${rawSql(String(events.length - 1 - n))}, `))
  return [
    addToPosition(on, topicKey, events.length),
    sql`INSERT INTO feed_event (position, ${rawSql(COLUMNS)}) VALUES ${joined(rows, ', ')}`,
  ]
}

// The row of the topic is locked until the commit.
function addToPosition(on: TypedSql, topicKey: string, count: number): Sql {
  const by = rawSql(String(count))
  return on.isMysql
    ? sql`INSERT INTO feed_topic (topic_key, position, deleted) VALUES (${on.text(topicKey)}, LAST_INSERT_ID(${by}), 0) ON DUPLICATE KEY UPDATE position = LAST_INSERT_ID(position + ${by})`
    : sql`INSERT INTO feed_topic (topic_key, position, deleted) VALUES (${on.text(topicKey)}, ${by}, 0) ON CONFLICT (topic_key) DO UPDATE SET position = feed_topic.position + ${by}`
}

/**
 * The lock of the topic and its event, in one statement. The position, a default of the table, and the time are computed for the row that the lock returns.
 * Source: "Data-Modifying Statements in WITH" and "Common Table Expression Materialization" in the manual of PostgreSQL: a volatile query is executed once, before.
 */
function insertLocked({ topicKey, topic, id, aggregate, type, payload, tenant, trace }: NewEvent): Sql {
  return fixed(sql`WITH topic_lock AS (SELECT pg_advisory_xact_lock(CAST(${LOCK_CLASS} AS INTEGER), CAST(${lockOf(topicKey)} AS INTEGER)))
    INSERT INTO feed_event (topic_key, topic, id, aggregatetype, aggregateid, type, payload, feed_tenant, trace, created)
    SELECT CAST(${topicKey} AS VARCHAR), CAST(${topic} AS VARCHAR), CAST(${id} AS UUID), CAST(${aggregate} AS VARCHAR), CAST(${topic} AS VARCHAR),
      CAST(${type} AS VARCHAR), CAST(${payload} AS JSONB), CAST(${tenant ?? null} AS VARCHAR), CAST(${trace ?? null} AS VARCHAR),
      CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) FROM topic_lock`)
}

// Relays look who has a lock: positions that were given may become visible later. Events without an order share one, for which no one waits.
function locks(on: TypedSql, events: readonly NewEvent[]): readonly Sql<unknown>[] {
  const ordered = events.filter(({ isOrdered }) => isOrdered)
  const topics = [...new Set(ordered.map(({ topicKey }) => lockOf(topicKey)))].sort((a, b) => a - b)
  const own = on.number(LOCK_CLASS)
  const shared =
    ordered.length < events.length
      ? [fixed(sql`SELECT pg_advisory_xact_lock_shared(${own}, ${on.number(UNORDERED)})`)]
      : []
  return [...shared, ...topics.map((lock) => fixed(sql`SELECT pg_advisory_xact_lock(${own}, ${on.number(lock)})`))]
}
