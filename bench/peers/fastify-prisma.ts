// With the driver adapter, and one client for the process: https://www.prisma.io/docs/orm/prisma-client/setup-and-configuration/databases-connections
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client.js'
import { type Heroes, startFastify } from './support/fastify-app.js'
import { type Database, pageMeta, type Peer, POOL_SIZE } from './support/peer.js'

function open({ url }: Database): Heroes {
  const adapter = new PrismaPg({ connectionString: url, max: POOL_SIZE })
  // The default of two seconds to begin is too short for a burst of requests.
  const client = new PrismaClient({ adapter, transactionOptions: { maxWait: 30_000 } })
  return {
    list: (offset, limit) =>
      client.$transaction(async ({ hero }) => {
        const total = await hero.count()
        const data = await hero.findMany({ orderBy: { id: 'asc' }, skip: offset, take: limit })
        return { data, meta: pageMeta(offset, limit, total) }
      }),
    get: (id) => client.$transaction(({ hero }) => hero.findUnique({ where: { id } })),
    create: ({ name, secret_identity, age }) =>
      client.$transaction(({ hero }) => hero.create({ data: { name, secret_identity, age } })),
  }
}

export default {
  title: 'Fastify + Prisma',
  databases: ['postgres'],
  start: startFastify(open, (error) => 'code' in error && error.code === 'P2002'),
} satisfies Peer
