import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Base, conflict, Controller, Field, Post, Session, sql, Transactional } from 'sequitur'
import { Attempt, Job, JobRecord, Jobs } from 'sequitur/jobs'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Effect } from '../ledger.js'
import type { TooMany } from './processes.js'
import { Tick } from './schedules.js'

/*
 * Handlers that add jobs, and jobs that write a row, for programs that are killed. Each job has a number of its own.
 */

/** Milliseconds: longer than a lease of 500. */
const TOO_LONG = [550, 900] as const

/** The rows of the handlers: a job is there for each. */
@Table({ tableName: 'entry', timestamps: false })
export class Entry extends Base<Entry> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare number: number
}

/** The jobs with a limit that are running now, by what they say. */
@Table({ tableName: 'inside', timestamps: false })
export class Inside extends Base<Inside> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare number: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare account: number
  @Column({ type: DataType.STRING(40), allowNull: false }) declare process: string
}

/** The processes that were killed: what they have said is not so any more. */
@Table({ tableName: 'gone', timestamps: false })
export class Gone extends Base<Gone> {
  @Column({ type: DataType.STRING(40), primaryKey: true }) declare process: string
}

export const LIMIT = 2
export const ACCOUNTS = 3

export class NewEntry {
  @Field({ type: 'integer' }) number!: number
  @Field({ type: 'integer' }) account!: number
}

/** Of this process. */
const self = process.env['CRASH_PROCESS'] ?? ''

/** Blocks the whole process, as a long computation would, without using a core. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

const effect = (session: Session, number: number) =>
  session.execute(sql`INSERT INTO effect (number) VALUES (${number})`)

/** Three of a hundred throw at first, and three outlive the lease of their worker at first. */
async function work(session: Session, { number }: NewEntry, attempt: Attempt): Promise<void> {
  const isFirst = attempt.number === 1
  if (number % 2 === 0) await wait(randomInt(20))
  await effect(session, number)
  if (isFirst && number % 100 < 3) {
    if (number % 2 === 0) attempt.retryIn(randomInt(200))
    throw new Error('A job fails.')
  }
  if (isFirst && number % 100 >= 97) block(randomInt(...TOO_LONG))
  else if (number % 3 === 0) await wait(randomInt(20))
}

export class CrashJobs {
  @Job({ name: 'crash.plain', attempts: 1_000 })
  async plain(input: NewEntry, session: Session, attempt: Attempt) {
    await work(session, input, attempt)
  }

  @Transactional({ isolation: 'repeatable read', retry: 20 })
  @Job({ name: 'crash.repeatable', attempts: 1_000 })
  async repeatable(input: NewEntry, session: Session, attempt: Attempt) {
    await work(session, input, attempt)
  }

  @Transactional({ isolation: 'serializable', retry: 20 })
  @Job({ name: 'crash.serializable', attempts: 1_000 })
  async serializable(input: NewEntry, session: Session, attempt: Attempt) {
    await work(session, input, attempt)
  }

  /** Says in transactions of its own that it has begun, and is done in that of its end. */
  @Job({ name: 'crash.limited', attempts: 1_000, limit: { by: ({ account }: NewEntry) => account, at: LIMIT } })
  async limited({ number, account }: NewEntry, session: Session, attempt: Attempt) {
    await attempt.step(`in ${attempt.number}`, async (own) => {
      await own.execute(sql`DELETE FROM inside WHERE number = ${number}`)
      await own.execute(sql`INSERT INTO inside (number, account, process) VALUES (${number}, ${account}, ${self})`)
    })
    const processes = await attempt.step(`count ${attempt.number}`, async (own) => {
      const alive = sql`process NOT IN (SELECT process FROM gone)`
      const rows = await own.execute<Pick<Inside, 'process'>>(
        sql`SELECT process FROM inside WHERE account = ${account} AND ${alive}`,
      )
      return rows.map(({ process }) => process)
    })
    if (processes.length > LIMIT) process.send?.({ tooMany: { number, account, processes } satisfies TooMany })
    await wait(randomInt(30))
    if (attempt.number === 1 && number % 100 < 3) {
      await attempt.step('out', (own) => own.execute(sql`DELETE FROM inside WHERE number = ${number}`))
      attempt.retryIn(randomInt(200))
    }
    await effect(session, number)
    await session.execute(sql`DELETE FROM inside WHERE number = ${number}`)
  }
}

/** Which job a number has. */
function memberOf(number: number, isLimited: boolean): 'plain' | 'repeatable' | 'serializable' | 'limited' {
  if (isLimited) return 'limited'
  if (number % 10 === 7) return 'repeatable'
  return number % 10 === 8 ? 'serializable' : 'plain'
}

@Controller('/entries')
export class EntryController {
  @Post('/')
  async create(input: NewEntry, jobs: Jobs) {
    const { number } = input
    const isEarly = number % 2 === 0
    if (isEarly) await Entry.create({ number })
    const delay = number % 7 === 0 ? { delay: randomInt(300) } : {}
    const key = number % 5 === 0 ? { key: `entry ${number}` } : {}
    await jobs.add(CrashJobs, memberOf(number, process.env['CRASH_LIMITS'] === '1'), input, { ...delay, ...key })
    if (randomInt(20) === 0) conflict('The handler fails after it has added a job')
    if (!isEarly) await Entry.create({ number })
  }
}

export const models = [Entry, Effect, Inside, Gone, Tick, JobRecord] as const
