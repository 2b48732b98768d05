import { QueryTypes, type Sequelize } from 'sequelize'
import type { Sql } from '../../db/statements/statement.js'
import type { DueQueue } from '../statements/queues.js'
import { jobStatements } from '../statements/job-statements.js'
import { type NameRow, OperatorStatements } from './statements.js'
import { workersOf } from './workers-of.js'

/** How many names, or queues, a hint has. */
const MOST_NAMES = 20
/** Milliseconds after which a due job is late. */
const LATE = 60_000

/** What an app has of jobs. */
export interface KnownJobs {
  readonly names: ReadonlySet<string>
  readonly queues: ReadonlySet<string>
}

/** What `sequitur doctor` says of the jobs of a database: a sentence each. */
export async function hintsOf(sequelize: Sequelize, known: KnownJobs): Promise<readonly string[]> {
  const operators = new OperatorStatements(sequelize.getDialect())
  const names = await rowsOf(sequelize, operators.unfinishedNames())
  const [dead] = await rowsOf(sequelize, operators.countDead())
  return [
    ...describeUnknown(unknownOf(names, known)),
    ...describeUnworked(await unworkedQueues(sequelize, operators), known),
    ...describeDead(Number(dead?.n ?? 0)),
  ]
}

// The database is open for the command alone: no session belongs to it.
async function rowsOf<Row>(sequelize: Sequelize, { texts, values }: Sql<Row>): Promise<readonly Row[]> {
  const rows = await sequelize.query(texts.join('?'), {
    replacements: [...values],
    type: QueryTypes.SELECT,
    logging: false,
  })
  return rows as unknown as readonly Row[] // of the statement
}

/** The queues in which a job is late, and on which no process works. */
async function unworkedQueues(sequelize: Sequelize, operators: OperatorStatements): Promise<readonly DueQueue[]> {
  const statements = jobStatements(sequelize.getDialect())
  const workers = workersOf(await rowsOf(sequelize, operators.workers()))
  const ready = await rowsOf(sequelize, statements.readyQueues())
  const due = await rowsOf(sequelize, statements.dueByQueue(ready.map(({ queue }) => queue)))
  return due.filter((one) => Number(one.now) - Number(one.due) >= LATE && workers(one.queue) === 0)
}

function unknownOf(rows: readonly NameRow[], { names }: KnownJobs): ReadonlyMap<string, number> {
  const unknown = new Map<string, number>()
  for (const { name, n } of rows) if (!names.has(name)) unknown.set(name, (unknown.get(name) ?? 0) + Number(n))
  return unknown
}

function describeUnknown(names: ReadonlyMap<string, number>): readonly string[] {
  if (names.size === 0) return []
  const list = listOf([...names].map(([name, n]) => `${name} (${n})`))
  return [
    `jobs wait whose names no class of createApp({ jobs }) has: ${list}. Give a method the name back that it had, discard them, or ignore this if another program runs them`,
  ]
}

function describeUnworked(queues: readonly DueQueue[], known: KnownJobs): readonly string[] {
  const [first] = queues
  if (!first) return []
  const list = listOf(queues.map((queue) => describeQueue(queue, known)))
  return [
    `jobs are due in queues on which no process works: ${list}. Name them in createApp({ work }), or start npx sequitur work --queue ${first.queue}=5`,
  ]
}

function describeQueue({ queue, ready, due, now }: DueQueue, { queues }: KnownJobs): string {
  const age = `${ready}, the oldest for ${Math.floor((Number(now) - Number(due)) / 60_000)} min`
  return queues.has(queue) ? `${queue} (${age})` : `${queue} (${age}; no method of the app has it)`
}

function describeDead(count: number): readonly string[] {
  if (count === 0) return []
  return [`${count === 1 ? '1 job is' : `${count} jobs are`} dead: npx sequitur jobs list --state dead`]
}

function listOf(texts: readonly string[]): string {
  const others = texts.length > MOST_NAMES ? `, and ${texts.length - MOST_NAMES} others` : ''
  return `${texts.slice(0, MOST_NAMES).join(', ')}${others}`
}
