import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, newLifespan, Session, sql, Transactional, withSession } from 'sequitur'
import { databaseApp, mysqls, postgres } from '../support/databases.js'

/** What tells a session that it is encrypted. */
const ENCRYPTED = {
  postgres: sql<{ value: boolean }>`SELECT ssl AS value FROM pg_stat_ssl WHERE pid = pg_backend_pid()`,
  mysql: sql<{ value: string }>`SELECT VARIABLE_VALUE AS value FROM information_schema.SESSION_STATUS
    WHERE VARIABLE_NAME = 'Ssl_cipher' AND VARIABLE_VALUE <> ''`,
}

for (const kind of [postgres, ...mysqls])
  for (const mode of ['require', 'verify-ca', 'verify-full'])
    test(`${kind.name}: with sslmode=${mode} a session is encrypted, or there is none`, async () => {
      const lifespan = newLifespan(`${await kind.url()}?sslmode=${mode}`, { startTimeout: 0 })
      const ask = ENCRYPTED[kind === postgres ? 'postgres' : 'mysql']
      try {
        const [row] = await withSession(lifespan, (session) => session.execute<{ value: unknown }>(ask))
        assert.ok(row?.value)
      } catch (error) {
        assert.equal((error as Error).name, 'DatabaseStartError')
        assert.match((error as Error).message, /SSL|TLS|secure|certificate/i)
      }
    })

@Controller('/')
class Reading {
  @Transactional({ readOnly: true })
  @Get()
  async read(session: Session) {
    const [row] = await session.execute<{ value: boolean }>(ENCRYPTED.postgres)
    return row?.value
  }
}

for (const [name, database, replica] of [
  ['its own sslmode', '', '?sslmode=require'],
  ['that of the database', '?sslmode=require', ''],
] as const)
  test(`PostgreSQL: a replica is read with ${name}, or not at all`, async (t) => {
    const url = await postgres.url()
    const lifespan = { replicas: [`${url}${replica}`], startTimeout: 0 }
    const kind = { name: postgres.name, url: () => Promise.resolve(`${url}${database}`) }
    const app = await databaseApp(t, kind, [], [Reading], { lifespan }).catch(() => undefined)
    const answer = await app?.fetch('/')
    assert.ok(answer === undefined || answer.status === 503 || (await answer.json()) === true)
  })
