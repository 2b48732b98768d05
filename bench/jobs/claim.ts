import { newLifespan, sql, withSession } from 'sequitur'
import { JobRecord } from 'sequitur/jobs'
import { jobDatabase } from '../../src/jobs/job-database.js'

/*
 * Milliseconds of a claim of ten jobs, without finished rows and with a million of them. PostgreSQL only.
 *
 * node --conditions=sequitur-source --import tsx --import sequitur/register bench/jobs/claim.ts <url>
 */

const database = newLifespan(process.argv[2] ?? '', { sync: true, models: [JobRecord] })
const row = (state: string, from: number, to: number) => sql`
  INSERT INTO job (name, queue, state, priority, due, attempt, run, input, created, finished)
  SELECT 'bench', 'default', ${state}, 0, n, 0, 0, '{}', 0, ${state === 'done' ? 1 : null}::bigint FROM generate_series(${from}::int, ${to}::int) n`

await database.during(async () => {
  const { statements } = jobDatabase()
  await withSession(database, (session) => session.execute(sql`DELETE FROM job`))
  await withSession(database, (session) => session.execute(row('ready', 1, 10_000)))
  const medians: number[] = []
  for (const finished of [0, 1_000_000]) {
    if (finished > 0) await withSession(database, (session) => session.execute(row('done', 1, finished)))
    await database.sequelize.query('VACUUM ANALYZE job')
    const times: number[] = []
    for (let n = 0; n < 300; n++)
      await withSession(database, async (session) => {
        await session.execute(sql`SELECT 1`)
        const begunAt = performance.now()
        await session.executeOwn(statements.claim([{ queue: 'default', slots: 10, after: undefined }], 'bench'))
        times.push(performance.now() - begunAt)
        session.rollback()
      })
    medians.push(times.toSorted((a, b) => a - b)[150] ?? NaN)
  }
  console.log(JSON.stringify({ milliseconds: medians.map((median) => Number(median.toFixed(3))) }))
  await withSession(database, (session) => session.execute(sql`TRUNCATE job`))
})
