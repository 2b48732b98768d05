import { DataTypes, type ModelAttributes } from 'sequelize'
import { Column } from 'sequelize-typescript'
import { isMysql } from '../db/is-mysql.js'
import {
  big,
  type Columns,
  type Index,
  instant,
  mapOwnTables,
  noIndexes,
  optionalText,
  OwnTable,
  type OwnTableFacts,
  text,
} from '../db/own-tables/own-table.js'
import { RELAY_TABLES } from './relay/tables.js'

/** The largest data of an event, in bytes of JSON: what the smallest text type of the databases holds. */
export const MAX_DATA = 60_000
/** The longest topic, in characters. */
export const MAX_TOPIC = 100
/** Characters of the digest that stands for a topic. */
export const KEY_LENGTH = 22

// On MySQL, MariaDB and distributed databases the row of the topic counts the positions; elsewhere a sequence of the table does.
const EVENT = (dialect?: string) => {
  return {
    topic_key: {
      ...text(KEY_LENGTH, dialect),
      ...(isMysql(dialect) || dialect === 'postgres' ? { primaryKey: true } : {}),
    },
    position: {
      // SQLite gives no number twice only to a column of this type that is the whole key.
      type: dialect === 'sqlite' ? DataTypes.INTEGER : DataTypes.BIGINT,
      allowNull: false,
      primaryKey: true,
      autoIncrement: !isMysql(dialect),
    },
    topic: text(MAX_TOPIC, dialect),
    id: { type: DataTypes.UUID, allowNull: false },
    // What the outbox event router of Debezium expects, by these names.
    aggregatetype: text(255, dialect),
    aggregateid: text(255, dialect),
    type: text(255, dialect),
    payload: { type: dialect === 'postgres' ? DataTypes.JSONB : DataTypes.TEXT, allowNull: false },
    // Not `tenant`, which is the column of tenancy() in many programs: it would limit this table to one of them.
    feed_tenant: optionalText(100, dialect),
    trace: optionalText(55, dialect),
    created: instant(),
  } satisfies ModelAttributes
}
const TOPIC = (dialect?: string) => ({
  topic_key: { ...text(KEY_LENGTH, dialect), primaryKey: true },
  position: big(),
  deleted: big(),
})

function eventIndexes(dialect: string): Index[] {
  const created: Index = { name: 'feed_event_created', fields: ['created'] }
  if (isMysql(dialect)) return [created] // the key is (topic_key, position), as on PostgreSQL
  if (dialect === 'postgres') return [{ name: 'feed_event_position', fields: ['position'] }, created]
  return [{ name: 'feed_event_topic', fields: ['topic_key', 'position'] }, created]
}

/**
 * The table of events: a row for each. Add it to the models of the database in which the handlers write: `createApp({ models: [Hero, FeedEvent] })`. Its tables
 * are created by a migration with `createFeedTables()`. Programs read it, and leave the writing to this package.
 */
export class FeedEvent extends OwnTable<FeedEvent> {
  /** A digest of the topic and its tenant. */
  @Column(EVENT().topic_key) declare topic_key: string
  /** Of two events of one topic, that with the lower position was committed first. Of several topics, positions say nothing. */
  @Column(EVENT().position) declare position: string
  @Column(EVENT().topic) declare topic: string
  @Column(EVENT().id) declare id: string
  /** The part of the type before the first dot. */
  @Column(EVENT().aggregatetype) declare aggregatetype: string
  /** The topic. */
  @Column(EVENT().aggregateid) declare aggregateid: string
  /** `hero.saved` */
  @Column(EVENT().type) declare type: string
  /** The data of the event; on databases without a binary type of JSON, as text. */
  @Column(EVENT().payload) declare payload: unknown
  /** The tenant of the session that published it. */
  @Column(EVENT().feed_tenant) declare feed_tenant: string | null
  /** The `traceparent` of the request that published it. */
  @Column(EVENT().trace) declare trace: string | null
  /** In milliseconds since 1970. */
  @Column(EVENT().created) declare created: string
}

/** What is known of topics: the last position that was given, where the row counts them, and the last one that was deleted. They are never deleted. */
export class FeedTopic extends OwnTable<FeedTopic> {
  @Column(TOPIC().topic_key) declare topic_key: string
  @Column(TOPIC().position) declare position: string
  @Column(TOPIC().deleted) declare deleted: string
}

export const TABLES: readonly OwnTableFacts[] = [
  { model: FeedEvent, name: 'feed_event', columns: (dialect): Columns => EVENT(dialect), indexes: eventIndexes },
  { model: FeedTopic, name: 'feed_topic', columns: TOPIC, indexes: noIndexes },
  ...RELAY_TABLES,
]

mapOwnTables(
  TABLES,
  "Write a migration: import { createFeedTables } from 'sequitur/feeds', and await createFeedTables(queryInterface).",
)
