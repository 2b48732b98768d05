// With NODE_ENV=production: https://expressjs.com/en/advanced/best-practice-performance.html#set-node_env-to-production
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express, { type NextFunction, type Request, type Response } from 'express'
import { UniqueConstraintError } from 'sequelize'
import { z, ZodError } from 'zod'
import type { Peer } from './support/peer.js'
import { Heroes } from './support/sequelize-heroes.js'

const HeroInput = z.object({ name: z.string(), secret_identity: z.string(), age: z.int() })
const Key = z.coerce.number().int()
const Window = z.object({
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(100).default(10),
})

export default {
  title: 'Express + Sequelize',
  databases: ['postgres', 'mariadb'],
  async start(database) {
    const app = express()
    app.use(express.json())
    app.get('/hello', (_, response) => void response.json({ hello: 'world' }))
    if (database) {
      const heroes = new Heroes(database)
      app.get('/heros', async ({ query }, response) => {
        const { offset, limit } = Window.parse(query)
        response.json(await heroes.list(offset, limit))
      })
      app.get('/heros/:id', async ({ params }, response) => {
        const found = await heroes.get(Key.parse(params.id))
        if (found) response.json({ data: found })
        else response.status(404).json({ error: 'Hero not found' })
      })
      app.post('/heros', async ({ body }, response) => {
        response.status(201).json({ data: await heroes.create(HeroInput.parse(body)) })
      })
    }
    app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
      if (error instanceof ZodError) response.status(422).json({ error: error.issues })
      else if (error instanceof UniqueConstraintError) response.status(409).json({ error: 'Duplicate hero name' })
      else response.status(500).json({ error: 'Internal server error' })
    })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port // a TCP server that listens
  },
} satisfies Peer
