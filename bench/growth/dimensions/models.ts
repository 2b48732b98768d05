import { cost, type Dimension, Lines, MEMORY, START_CPU } from '../dimension.js'
import { below, get } from '../load.js'
import { withServer } from '../server.js'

const XS = [5, 50, 150, 500]

export const models: Dimension = {
  name: 'models',
  title: 'Models of an app',
  x: 'models',
  xs: XS,
  explanation:
    'Rows of one model cost the same however many models there are. Requests for all of them cost more until each ' +
    'connection has prepared the statements of each model, 5,000 with 500 models, and their code is compiled: the ' +
    'measurement is a part of that time. Statements that are kept are memory, also of the database, which grows with ' +
    'models times connections. The start reads the catalog of the database once, and compares each model.',
  async measure(context) {
    const lines = new Lines()
    const names = Array.from({ length: Math.max(...XS) }, (_, number) => `thing_${number}`)
    for (const count of XS) {
      console.log(`${count} models`)
      await withServer('models', [context.url, count, 'sync'], async () => {})
      for (const name of names.slice(0, count))
        await context.execute(`INSERT INTO ${name} (id) VALUES (1) ON CONFLICT DO NOTHING`)
      await withServer('models', [context.url, count], async (server) => {
        const one = () => get('/things0/1')
        lines.addCost('rows of one model', await cost(context, 'of one', { server, request: one, isFirst: true }))
        const any = (n: number) => get(`/things${below(count, n)}/1`)
        lines.addCost('rows of all models', await cost(context, 'of all', { server, request: any, isFirst: true }))
        lines.add(MEMORY, 'after requests of all', await server.memory())
        lines.add(START_CPU, 'from the models to listening', server.start)
      })
    }
    await context.execute(...names.map((name) => `DROP TABLE ${name}`))
    return lines.all()
  },
}
