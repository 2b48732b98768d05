import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Field, type Session, sql, withSession } from 'sequitur'
import { Job, JobRecord } from 'sequitur/jobs'
import type { Sql } from '../../src/db/statements/statement.js'
import { jobDatabase } from '../../src/jobs/job-database.js'
import { OperatorStatements } from '../../src/jobs/operators/statements.js'
import type { ChangeOfSome } from '../../src/jobs/statements/dialect.js'
import type { JobStatements } from '../../src/jobs/statements/job-statements.js'
import { databaseApp, databases, sqliteMemory, type TestDatabase } from '../support/databases.js'

class Entry {
  @Field({ type: 'integer' }) number!: number
}

class PlanJobs {
  @Job({ name: 'plan.job' })
  async job(input: Entry) {
    void input
  }
}

const partsOf = ({ find, change }: ChangeOfSome) => (find ? [find, change(['1', '2'])] : [change([])])

type Parts = Sql<unknown> | readonly Sql<unknown>[]

/** The statements that workers, metrics and hints execute again and again. */
const STATEMENTS: readonly (readonly [string, (statements: JobStatements) => Parts])[] = [
  ['look', (statements) => statements.look(['default', 'mail'])],
  ['wakeDelayed', (statements) => partsOf(statements.wakeDelayed())],
  ['claim', (statements) => statements.claim([{ queue: 'default', slots: 8, after: undefined }], 'worker')],
  ['candidates', (statements) => statements.candidates({ queue: 'default', slots: 8 })],
  ['running', (statements) => statements.running(['a', 'b'])],
  ['wakeLimited', (statements) => partsOf(statements.wakeLimited('a', 2))],
  ['forgottenLimits', (statements) => statements.forgottenLimits()],
  ['takeBack', (statements) => partsOf(statements.takeBack())],
  ['runningOf', (statements) => statements.runningOf('worker')],
  ['finished', (statements) => statements.finished('done', 1_000)],
  ['readyQueues', (statements) => statements.readyQueues()],
  ['dueByQueue', (statements) => statements.dueByQueue(['default', 'mail'])],
  ['unfinishedNames', ({ dialect }) => new OperatorStatements(dialect).unfinishedNames()],
  ['countDead', ({ dialect }) => new OperatorStatements(dialect).countDead()],
]

/** What shows that a plan reads the whole table. */
const WHOLE: Readonly<Record<string, RegExp>> = {
  sqlite: /SCAN (?:job|active)(?! USING)/,
  postgres: /Seq Scan on job\b/,
  mysql: /"table":"job","type":"(?:ALL|index)"/,
}

async function explain(t: TestContext, kind: TestDatabase) {
  const { database } = await databaseApp(t, kind, [JobRecord], [], { jobs: [PlanJobs] })
  const { statements } = jobDatabase()
  const { dialect } = statements
  const inSession = <T>(work: (session: Session) => Promise<T>) => withSession(database, work)
  if (dialect === 'mysql' || dialect === 'mariadb') {
    const job = { name: 'plan.job', queue: 'default', priority: 0, due: 0, attempt: 1, run: 1, input: '{}', created: 0 }
    const jobs = Array.from({ length: 2_000 }, () => ({ ...job, state: 'done' as const, finished: 1 }))
    await inSession(() => JobRecord.bulkCreate(jobs as never[]))
    await inSession((session) => session.execute(sql`ANALYZE TABLE job`))
  }
  const prefix = dialect === 'sqlite' ? sql`EXPLAIN QUERY PLAN` : sql`EXPLAIN`
  return (statement: Sql<unknown>) =>
    inSession(async (session) => {
      // The plan of an empty table would read all of it.
      if (dialect === 'postgres') await session.execute(sql`SET LOCAL enable_seqscan = off`)
      const rows = await session.execute(sql`${prefix} ${statement}`)
      return rows
        .map(({ detail, 'QUERY PLAN': plan, table, type }) => String(detail ?? plan ?? JSON.stringify({ table, type })))
        .join('\n')
    })
}

for (const kind of databases.filter((kind) => kind !== sqliteMemory))
  test(`${kind.name}: no statement of a worker reads the whole table of jobs`, async (t) => {
    const planOf = await explain(t, kind)
    const { statements } = jobDatabase()
    const whole = WHOLE[statements.dialect === 'mariadb' ? 'mysql' : statements.dialect] ?? /./
    for (const [name, statement] of STATEMENTS)
      if (name !== 'claim' || statements.claimsAtOnce)
        for (const part of [statement(statements)].flat()) assert.doesNotMatch(await planOf(part), whole, name)
    assert.match(await planOf(sql`SELECT count(*) FROM job WHERE input = 'x'`), whole)
  })
