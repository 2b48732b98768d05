import { cost, type Dimension, Lines, MEMORY } from '../dimension.js'
import { addHeroes, forgetHeroes } from '../heroes.js'
import { below, get } from '../load.js'
import { peakOf, withServer } from '../server.js'

const XS = [1, 4, 16, 64, 128, 512]
const POOL = 10
const MOST_OF_SERVER = 128
const ROWS = 10_000

export const transactions: Dimension = {
  name: 'transactions',
  title: 'Requests with a transaction at the same time',
  x: 'requests at the same time',
  xs: XS,
  explanation:
    'Up to 64 requests at the same time, each costs less, because the server reads and writes several at a time. With ' +
    'hundreds it costs as much as with 16, and the database as much as before: those that wait for a connection of the ' +
    'pool are a queue. A connection for each request, up to 128, makes nothing cheaper or faster on two cores: a small ' +
    'pool is enough.',
  async measure(context) {
    const lines = new Lines()
    await forgetHeroes(context)
    await withServer('heroes', [context.url], () => addHeroes(context, 1, ROWS))
    const request = (n: number) => get(`/heroes/${1 + below(ROWS, n)}`)
    for (const count of XS) {
      console.log(`${count} at the same time`)
      const pools = { [`a pool of ${POOL}`]: POOL, 'a connection for each': Math.min(count, MOST_OF_SERVER) }
      for (const [name, pool] of Object.entries(pools))
        await withServer('heroes', [context.url, pool], async (server) => {
          lines.addCost(name, await cost(context, name, { server, request, connections: count, isFirst: true }))
          lines.add(MEMORY, name, peakOf(server))
        })
    }
    await forgetHeroes(context)
    return lines.all()
  },
}
