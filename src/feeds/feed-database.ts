import type { Sequelize } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { provideItself } from '../di/provider.js'
import { OwnDatabase, ownerOf } from '../db/own-tables/own-database.js'
import { TypedSql } from '../db/own-tables/typed-sql.js'
import type { LastSession } from '../db/session/last-work.js'
import { isDistributed } from '../db/startup/distributed.js'
import { sql } from '../db/statements/statement.js'
import { publishStatements } from './statements/publish.js'
import { readStatements } from './statements/read.js'
import { FeedEvent } from './tables.js'

/** The tables of events in an open database. */
export class FeedDatabase extends OwnDatabase {
  readonly statements: ReturnType<typeof feedStatements>
  /**
   * Whether the positions of a topic are counted by its row, which is locked. Elsewhere they are those of one sequence, and topics have advisory locks: these do
   * nothing on CockroachDB, and older versions of YugabyteDB have none. Undefined until the server is known.
   */
  isCounted: boolean | undefined

  constructor(sequelize: Sequelize) {
    super(sequelize)
    this.statements = feedStatements(this.dialect)
    this.isCounted = this.dialect === 'postgres' ? undefined : this.dialect !== 'sqlite'
  }

  /** Finds out {@link isCounted}. @param session undefined for one of its own. */
  async knowServer(session?: LastSession): Promise<boolean> {
    if (this.isCounted !== undefined) return this.isCounted
    const [row] = await (session ? session.executeOwn(VERSION) : this.read(VERSION))
    return (this.isCounted = row !== undefined && isDistributed(row.version))
  }
}

const VERSION = sql<{ readonly version: string }>`SELECT version() AS version`

function feedStatements(dialect: string) {
  const on = new TypedSql(dialect)
  return { ...publishStatements(on), ...readStatements(on) }
}

const known = new WeakMap<Sequelize, FeedDatabase>()

/** The tables of events in the database that {@link FeedEvent} is mapped to. @throws Error if that is not open. */
export function feedDatabase(): FeedDatabase {
  const { sequelize } = FeedEvent
  if (!sequelize || !ownerOf(sequelize))
    throw new Error(
      'There is no table of events in an open database. Add FeedEvent, of sequitur/feeds, to the models of one: models: [Hero, FeedEvent].',
    )
  const database = known.get(sequelize) ?? new FeedDatabase(sequelize)
  known.set(sequelize, database)
  return database
}

/** The same for an app whose databases are open. @param needs what the app has that needs the tables. @throws BootError if none of them has them. */
export function feedDatabaseOfApp(needs: string): FeedDatabase {
  try {
    return feedDatabase()
  } catch (cause) {
    throw new BootError(
      `createApp() has ${needs}, and no table of events: add FeedEvent, of sequitur/feeds, to its models: models: [${FeedEvent.name}].`,
      { cause },
    )
  }
}

/** Injected where events are published or followed: the start of the app finds out whether there is a table of events. */
export class FeedTables {}

provideItself(FeedTables, {
  kind: 'factory',
  create: () => {
    feedDatabaseOfApp('handlers that publish or follow events')
    return new FeedTables()
  },
  dependencies: [],
  lifetime: 'application',
})
