import fastify from 'fastify'
import type { Database } from './peer.js'

/*
 * The routes of the peers that use Fastify, with a JSON Schema for each input and response, as
 * https://fastify.dev/docs/latest/Guides/Getting-Started/#serialize-your-data recommends.
 */

interface HeroInput {
  readonly name: string
  readonly secret_identity: string
  readonly age: number
}

/** How the rows are read and written, each method in one transaction. */
export interface Heroes {
  list(offset: number, limit: number): Promise<unknown>
  get(id: number): Promise<object | null | undefined>
  create(input: HeroInput): Promise<unknown>
}

const hero = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    secret_identity: { type: 'string' },
    age: { type: 'integer' },
    id: { type: 'integer' },
  },
} as const
const heroInput = { ...hero, required: ['name', 'secret_identity', 'age'] } as const
const item = { type: 'object', properties: { data: hero } } as const
const page = {
  type: 'object',
  properties: {
    data: { type: 'array', items: hero },
    meta: {
      type: 'object',
      properties: {
        offset: { type: 'integer' },
        total_items: { type: 'integer' },
        total_pages: { type: 'integer' },
        page_number: { type: 'integer' },
      },
    },
  },
} as const
const window = {
  type: 'object',
  properties: {
    offset: { type: 'integer', minimum: 0, default: 0 },
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
  },
} as const
const key = { type: 'object', properties: { id: { type: 'integer' } } } as const

/** The function `start` of a peer. @param isDuplicate whether an INSERT failed because the name exists. */
export function startFastify(open: (database: Database) => Heroes, isDuplicate: (error: Error) => boolean) {
  return async (database: Database | undefined): Promise<number> => {
    const app = fastify()
    app.setErrorHandler((error: Error & { readonly validation?: unknown }, _, reply) => {
      if (error.validation) return reply.code(422).send({ error: error.message })
      if (isDuplicate(error)) return reply.code(409).send({ error: 'Duplicate hero name' })
      return reply.code(500).send({ error: 'Internal server error' })
    })
    const hello = { type: 'object', properties: { hello: { type: 'string' } } }
    app.get('/hello', { schema: { response: { 200: hello } } }, () => ({ hello: 'world' }))
    if (database) {
      const heroes = open(database)
      app.get<{ Querystring: { offset: number; limit: number } }>(
        '/heros',
        { schema: { querystring: window, response: { 200: page } } },
        ({ query }) => heroes.list(query.offset, query.limit),
      )
      app.get<{ Params: { id: number } }>(
        '/heros/:id',
        { schema: { params: key, response: { 200: item } } },
        async ({ params }, reply) => {
          const found = await heroes.get(params.id)
          return found ? { data: found } : reply.code(404).send({ error: 'Hero not found' })
        },
      )
      app.post<{ Body: HeroInput }>(
        '/heros',
        { schema: { body: heroInput, response: { 201: item } } },
        async ({ body }, reply) => reply.code(201).send({ data: await heroes.create(body) }),
      )
    }
    return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
  }
}
