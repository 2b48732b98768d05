import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Events, events, Field, file, Get, Query, select, withSession } from 'sequitur'
import { Rows, rows } from 'sequitur/exports'
import { memoryDatabase } from 'sequitur/testing'
import { api } from '../support/api.js'
import { oddThrows } from '../support/odd-throws.js'
import { until } from '../support/waiting.js'

/*
 * Whatever the program throws while a response is sent: the connection is closed before its end, the log has a line, and the process lives.
 */

class Tick {
  @Field({ type: 'integer' }) number!: number
}

const COUNT = 2_000

@Table({ tableName: 'odd_row', timestamps: false })
class OddRow extends Base<OddRow> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({
    type: DataType.STRING,
    get(this: OddRow) {
      if (this.getDataValue('id') === COUNT) throw oddThrows[String(this.getDataValue('kind'))]?.()
      return this.getDataValue('kind')
    },
  })
  declare kind: string
}

@Controller('/')
class Throwing {
  @Get('/later', Events.of(Tick)) later(@Query() kind: string) {
    async function* source() {
      yield { data: { number: 1 } }
      throw oddThrows[kind]?.()
    }
    return events(source())
  }
  @Get('/first', Events.of(Tick)) first(@Query() kind: string) {
    return events<Tick>({
      [Symbol.asyncIterator]() {
        throw oddThrows[kind]?.()
      },
    })
  }
  @Get('/rows', Rows.of(OddRow, { atOnce: 1 })) rows(@Query() kind: string) {
    return rows(select(OddRow, { where: { kind }, order: ['id'] }))
  }
  @Get('/file', { produces: 'text/plain' }) file() {
    async function* source() {
      yield 'x'.repeat(100_000)
      throw oddThrows['the error of another stream that was closed too early']?.()
    }
    return file(Readable.from(source()), { type: 'text/plain' })
  }
}

for (const kind of Object.keys(oddThrows))
  test(`${kind}, thrown while a response is sent, ends it and is logged`, { timeout: 20_000 }, async (t) => {
    const lifespan = memoryDatabase()
    const app = await api(t, [Throwing], { models: [OddRow], lifespan })
    await withSession(lifespan, () =>
      OddRow.bulkCreate(Array.from({ length: COUNT }, (_, index) => ({ id: index + 1, kind }))),
    )
    const sent = [
      ['/later', '*/*'],
      ['/first', '*/*'],
      ['/rows', 'text/csv'],
      ['/rows', 'application/x-ndjson'],
    ]
    for (const [path, accept = ''] of sent) {
      app.log.length = 0
      const read = app
        .fetch(`${path}?kind=${encodeURIComponent(kind)}`, { headers: { accept } })
        .then((response) => response.text())
      await assert.rejects(read, `${path} as ${accept}`)
      await until(`${path} as ${accept} is logged`, async () => app.log.length === 1)
    }
  })

test('a file whose source was closed too early is logged with the error of the source', async (t) => {
  const app = await api(t, [Throwing], { models: [OddRow], lifespan: memoryDatabase() })
  await assert.rejects(app.fetch('/file').then((response) => response.text()))
  await until('it is logged', async () => /odd-throws/.test(app.log.join()))
})
