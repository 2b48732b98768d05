import { DataTypes } from 'sequelize'
import { Column } from 'sequelize-typescript'
import {
  big,
  instant,
  noIndexes,
  number,
  optionalText,
  OwnTable,
  type OwnTableFacts,
  text,
} from '../../db/own-tables/own-table.js'

const RELAY = (dialect?: string) => ({
  name: { ...text(100, dialect), primaryKey: true },
  position: big(),
  taken_by: optionalText(36, dialect),
  valid_until: instant(),
  failures: number(),
  error: optionalText(200, dialect),
  updated: instant(),
})
const RELAY_TOPIC = (dialect?: string) => ({
  relay: { ...text(100, dialect), primaryKey: true },
  topic_key: { ...text(22, dialect), primaryKey: true },
  position: { type: DataTypes.BIGINT, allowNull: false },
})

/** The relays, and which process runs each of them. */
export class FeedRelay extends OwnTable<FeedRelay> {
  @Column(RELAY().name) declare name: string
  /** All events up to it are published. 0 on databases where each topic has positions of its own: they are in {@link FeedRelayTopic}. */
  @Column(RELAY().position) declare position: string
  /** Whoever runs it: only that may change the row. */
  @Column(RELAY().taken_by) declare taken_by: string | null
  /** After it, another process may take the relay. In milliseconds since 1970, like the other times. */
  @Column(RELAY().valid_until) declare valid_until: string
  /** How often publishing has failed since the last success. */
  @Column(RELAY().failures) declare failures: number
  /** The name and the code of the last error, without its message, which may have values of rows. */
  @Column(RELAY().error) declare error: string | null
  /** When it has published, or failed, the last time. */
  @Column(RELAY().updated) declare updated: string
}

/** What a relay has published of each topic, where each has positions of its own. */
export class FeedRelayTopic extends OwnTable<FeedRelayTopic> {
  @Column(RELAY_TOPIC().relay) declare relay: string
  @Column(RELAY_TOPIC().topic_key) declare topic_key: string
  @Column(RELAY_TOPIC().position) declare position: string
}

export const RELAY_TABLES: readonly OwnTableFacts[] = [
  { model: FeedRelay, name: 'feed_relay', columns: RELAY, indexes: noIndexes },
  { model: FeedRelayTopic, name: 'feed_relay_topic', columns: RELAY_TOPIC, indexes: noIndexes },
]
