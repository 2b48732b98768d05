import assert from 'node:assert/strict'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Session, sql } from 'sequitur'
import { Attempt, Cron, type JobRecord } from 'sequitur/jobs'

/*
 * Schedules of one second, whose jobs write a row for each instant.
 */

const SECOND = 1_000
/** With the name of each schedule. */
const NAME = 'crash.tick'

/** Without a unique index, so that a second row of an instant would be there. */
@Table({ tableName: 'tick', timestamps: false })
export class Tick extends Base<Tick> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(40), allowNull: false }) declare schedule: string
  @Column({ type: DataType.BIGINT, allowNull: false }) declare instant: string | number
}

function scheduleJobs(number: number) {
  class TickJobs {
    @Cron('* * * * * *', { name: `${NAME}.${number}`, attempts: 1_000 })
    async tick(session: Session, { name, instant }: Attempt) {
      await session.execute(sql`INSERT INTO tick (schedule, instant) VALUES (${name}, ${instant?.getTime()})`)
    }
  }
  return TickJobs
}

export const schedules = [1, 2, 3, 4, 5].map(scheduleJobs)

export const isOfSchedule = ({ name }: Pick<JobRecord, 'name'>) => name.startsWith(NAME)

/** What was found of the instants. */
export interface FoundInstants {
  readonly instants: number
  /** Those between the first and the last one that no process has added in time. */
  readonly missed: number
}

/** One job for each instant, which is not before it by the clock of the database; and one row, if it is done. */
export function assertInstants(all: readonly JobRecord[], ticks: readonly Tick[]): FoundInstants {
  const jobs = all.filter(isOfSchedule)
  const added = jobs.map(nameOf).toSorted()
  assert.deepEqual(added, [...new Set(added)], 'an instant has one job')
  assert.deepEqual(
    jobs.filter((job) => Number(job.created) < instantOf(job)),
    [],
    'no instant comes too early',
  )
  const rows = ticks.map(({ schedule, instant }) => `${schedule}: ${Number(instant)}`).toSorted()
  const done = jobs.filter(({ state }) => state === 'done').map(nameOf)
  assert.deepEqual(rows, done.toSorted(), 'each instant has its row once')
  return { instants: rows.length, missed: expectedOf(jobs) - jobs.length }
}

const instantOf = ({ input }: JobRecord) => (JSON.parse(input) as { instant: number }).instant
const nameOf = (job: JobRecord) => `${job.name}: ${instantOf(job)}`

/** How many jobs there are if each instant of each schedule, from its first to its last one, has one. */
function expectedOf(jobs: readonly JobRecord[]): number {
  return [...new Set(jobs.map(({ name }) => name))].reduce((sum, name) => {
    const instants = jobs.filter((job) => job.name === name).map(instantOf)
    return sum + (Math.max(...instants) - Math.min(...instants)) / SECOND + 1
  }, 0)
}
