// With the router that Hono chooses by default: https://hono.dev/docs/concepts/routers
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { zValidator } from '@hono/zod-validator'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { openHeroes, isDuplicate } from './support/drizzle-heroes.js'
import type { Peer } from './support/peer.js'

const HeroInput = z.object({ name: z.string(), secret_identity: z.string(), age: z.int() })
const Key = z.object({ id: z.coerce.number().int() })
const Window = z.object({
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(100).default(10),
})

function refuse(result: { readonly success: boolean }, context: Context) {
  if (!result.success) return context.json({ error: 'Invalid input' }, 422)
  return undefined
}

export default {
  title: 'Hono + Drizzle',
  databases: ['postgres'],
  async start(database) {
    const app = new Hono()
    app.get('/hello', (context) => context.json({ hello: 'world' }))
    if (database) {
      const heroes = openHeroes(database)
      app.get('/heros', zValidator('query', Window, refuse), async (context) => {
        const { offset, limit } = context.req.valid('query')
        return context.json(await heroes.list(offset, limit))
      })
      app.get('/heros/:id', zValidator('param', Key, refuse), async (context) => {
        const found = await heroes.get(context.req.valid('param').id)
        return found ? context.json({ data: found }) : context.json({ error: 'Hero not found' }, 404)
      })
      app.post('/heros', zValidator('json', HeroInput, refuse), async (context) =>
        context.json({ data: await heroes.create(context.req.valid('json')) }, 201),
      )
    }
    app.onError((error, context) =>
      isDuplicate(error)
        ? context.json({ error: 'Duplicate hero name' }, 409)
        : context.json({ error: 'Internal server error' }, 500),
    )
    const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 })
    if (!server.listening) await once(server, 'listening')
    return (server.address() as AddressInfo).port // a TCP server that listens
  },
} satisfies Peer
