// Kysely names no statement, and has no prepared ones: https://kysely.dev/docs/getting-started#querying
import { type Generated, Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import { type Heroes, startFastify } from './support/fastify-app.js'
import { type Database, pageMeta, type Peer, POOL_SIZE } from './support/peer.js'

interface Tables {
  readonly hero: { name: string; secret_identity: string; age: number; id: Generated<number> }
}

function open({ url }: Database): Heroes {
  const pool = new Pool({ connectionString: url, max: POOL_SIZE })
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    list: (offset, limit) =>
      database.transaction().execute(async (transaction) => {
        const { total } = await transaction
          .selectFrom('hero')
          .select(({ fn }) => fn.countAll<string>().as('total'))
          .executeTakeFirstOrThrow()
        const rows = transaction.selectFrom('hero').selectAll().orderBy('id').limit(limit).offset(offset)
        return { data: await rows.execute(), meta: pageMeta(offset, limit, Number(total)) }
      }),
    get: (id) =>
      database
        .transaction()
        .execute((transaction) => transaction.selectFrom('hero').selectAll().where('id', '=', id).executeTakeFirst()),
    create: ({ name, secret_identity, age }) =>
      database
        .transaction()
        .execute((transaction) =>
          transaction.insertInto('hero').values({ name, secret_identity, age }).returningAll().executeTakeFirst(),
        ),
  }
}

export default {
  title: 'Fastify + Kysely',
  databases: ['postgres'],
  start: startFastify(open, (error) => 'code' in error && error.code === '23505'),
} satisfies Peer
