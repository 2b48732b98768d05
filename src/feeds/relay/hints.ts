import { QueryTypes, type Sequelize } from 'sequelize'
import { Database } from '../../db/database.js'
import type { Lifespan } from '../../http/lifespan.js'
import { type RelayRow, relayStatements } from './statements.js'
import { FeedRelay } from './tables.js'

/** What `sequitur doctor` says of the relays in the databases, a sentence each. @param names of those of the app. */
export async function relayHints(names: readonly string[], lifespans: readonly Lifespan[]): Promise<readonly string[]> {
  const resources: readonly unknown[] = lifespans
  const hints: string[] = []
  for (const database of resources.filter((one) => one instanceof Database))
    hints.push(...(await database.inspect(({ sequelize }) => hintsOf(sequelize, names))))
  return hints
}

// It creates no tables.
async function hintsOf(sequelize: Sequelize, names: readonly string[]): Promise<readonly string[]> {
  if (sequelize !== FeedRelay.sequelize || !(await sequelize.getQueryInterface().tableExists('feed_relay'))) return []
  const { all } = relayStatements(sequelize.getDialect())
  const rows = await sequelize.query(all.texts.join(''), { type: QueryTypes.SELECT, logging: false })
  return (rows as unknown as readonly RelayRow[]).flatMap((row) => hintsAbout(row, names)) // of the statement
}

function hintsAbout({ name, failures, error, taken }: RelayRow, names: readonly string[]): readonly string[] {
  if (!names.includes(name))
    return [
      `the relay ${name} is not one of createApp({ relays }), and no event that it has not seen is deleted. If no other program has it: DELETE FROM feed_relay WHERE name = '${name}'`,
    ]
  if (failures > 0)
    return [`the relay ${name} has failed ${failures === 1 ? 'once' : `${failures} times`}: ${error}. Its events wait`]
  if (Number(taken) === 0)
    return [`no process runs the relay ${name}. Start npx sequitur work, or name work in createApp({ work })`]
  return []
}
