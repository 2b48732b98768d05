// A schema for each response, so that Elysia compiles the handlers: https://elysiajs.com/essential/best-practice, https://elysiajs.com/internal/jit-compiler
// Run by Bun: prints its port, and ends with the process that has started it.
import { SQL } from 'bun'
import { drizzle } from 'drizzle-orm/bun-sql'
import { Elysia, t } from 'elysia'
import { Heroes, type Transactions } from '../support/drizzle-heroes.js'
import { POOL_SIZE } from '../support/peer.js'

const hero = t.Object({ name: t.String(), secret_identity: t.String(), age: t.Integer(), id: t.Integer() })
const heroInput = t.Object({ name: t.String(), secret_identity: t.String(), age: t.Integer() })
const meta = t.Object({
  offset: t.Integer(),
  total_items: t.Integer(),
  total_pages: t.Integer(),
  page_number: t.Integer(),
})
const window = t.Object({
  offset: t.Integer({ minimum: 0, default: 0 }),
  limit: t.Integer({ minimum: 1, maximum: 100, default: 10 }),
})

const app = new Elysia()
  .onError(({ code, error, status }) => {
    if (code === 'VALIDATION') return status(422, { error: 'Invalid' })
    if (isUniqueViolation(error)) return status(409, { error: 'Duplicate hero name' })
    return status(500, { error: 'Internal server error' })
  })
  .get('/hello', () => ({ hello: 'world' }))

const [url] = process.argv.slice(2)
if (url !== undefined) {
  const database = drizzle(new SQL({ url, max: POOL_SIZE }))
  // Both drivers of Drizzle have the same transactions, of different types.
  const heroes = new Heroes(database as unknown as Transactions)
  app
    .get('/heros', ({ query }) => heroes.list(query.offset, query.limit), {
      query: window,
      response: t.Object({ data: t.Array(hero), meta }),
    })
    .get(
      '/heros/:id',
      async ({ params, status }) => {
        const found = await heroes.get(params.id)
        return found ? { data: found } : status(404, { error: 'Hero not found' })
      },
      {
        params: t.Object({ id: t.Integer() }),
        response: { 200: t.Object({ data: hero }), 404: t.Object({ error: t.String() }) },
      },
    )
    .post(
      '/heros',
      async ({ body, status }) => status(201, { data: (await heroes.create(body)) as typeof hero.static }),
      { body: heroInput, response: { 201: t.Object({ data: hero }) } },
    )
}

app.listen({ hostname: '127.0.0.1', port: 0 }, ({ port }) => console.log(port))
process.stdin.on('close', () => process.exit()).resume()

/** Bun has the code of PostgreSQL in `errno`. */
function isUniqueViolation(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : undefined
  return cause instanceof Error && 'errno' in cause && cause.errno === '23505'
}
