import { type Database, runningDatabases } from './database.js'
import { lifespan } from './lifespan.js'
import type { Session } from './session/session.js'

/**
 * Runs the work in a session outside a request: committed when the work resolves, rolled back when it rejects.
 * In an app that runs or starts it uses the app's database. In a script, name the database: it is started before the work and stopped after it.
 *
 * @throws the error of the work or of COMMIT.
 * @example
 * await withSession(async (session) => { await session.execute(sql`DELETE FROM visit WHERE at < ${limit}`) })
 * await withSession(lifespan, async (session) => { session.addAll(heroes.map((hero) => Hero.build(hero))) })
 */
export async function withSession<R>(work: (session: Session) => Promise<R>): Promise<R>
export async function withSession<R>(database: Database, work: (session: Session) => Promise<R>): Promise<R>
export async function withSession<R>(
  ...args: [(session: Session) => Promise<R>] | [Database, (session: Session) => Promise<R>]
): Promise<R> {
  const [database, work] = args.length === 2 ? args : [runningDatabase(), args[0]]
  return database.during(() => database.session(work))
}

function runningDatabase(): Database {
  const running = runningDatabases()
  const [only, ...others] = running.includes(lifespan) ? [lifespan] : running
  if (only && others.length === 0) return only
  throw new Error(
    only
      ? `Several databases are running. Write which one: withSession(database, async (session) => { ... }).`
      : `No app is running. In a script name the database: withSession(lifespan, async (session) => { ... }).`,
  )
}
