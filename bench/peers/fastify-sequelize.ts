import fastify from 'fastify'
import { UniqueConstraintError } from 'sequelize'
import type { Peer } from './support/peer.js'
import { Heroes, type HeroInput } from './support/sequelize-heroes.js'

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

export default {
  title: 'Fastify + Sequelize',
  databases: ['postgres', 'mariadb'],
  async start(database) {
    const app = fastify()
    app.setErrorHandler((error: Error & { readonly validation?: unknown }, _, reply) => {
      if (error.validation) return reply.code(422).send({ error: error.message })
      if (error instanceof UniqueConstraintError) return reply.code(409).send({ error: 'Duplicate hero name' })
      return reply.code(500).send({ error: 'Internal server error' })
    })
    app.get('/hello', () => ({ hello: 'world' }))
    if (database) {
      const heroes = new Heroes(database)
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
  },
} satisfies Peer
