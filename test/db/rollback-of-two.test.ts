import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Get, newLifespan, Post, withSession } from 'sequitur'
import { testApp, withRollback } from 'sequitur/testing'
import { postgres, sqliteFile } from '../support/databases.js'

@Table({ tableName: 'order', timestamps: false })
class Order extends Base<Order> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, unique: true }) declare name: string
}

@Table({ tableName: 'entry', timestamps: false })
class Entry extends Base<Entry> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, unique: true }) declare name: string
}

@Controller('/')
class Orders {
  @Post('/both') async both() {
    await Order.create({ name: 'a' })
    await Entry.create({ name: 'a' })
  }
  @Post('/fail') async fail() {
    await Order.create({ name: 'b' })
    await Entry.create({ name: 'b' })
    throw new Error('rolled back')
  }
  @Get('/count') async count() {
    return [await Order.count(), await Entry.count()]
  }
}

for (const [one, other] of [
  [sqliteFile, postgres],
  [postgres, sqliteFile],
] as const)
  test(`withRollback() undoes both databases, and refuses tests at the same time: ${one.name} and ${other.name}`, async (t) => {
    const orders = newLifespan(await one.url(), { sync: true, models: [Order] })
    const entries = newLifespan(await other.url(), { sync: true, models: [Entry] })
    const api = await testApp({ controllers: [Orders], lifespan: [orders, entries], logger: false })
    t.after(api.close)
    const count = async () => (await api.fetch('/count')).json()
    const undone = withRollback(api, async () => {
      const sent = await Promise.all([1, 2, 3].map(() => api.fetch('/both', { method: 'POST' })))
      assert.deepEqual(sent.map(({ status }) => status).sort(), [204, 409, 409])
      assert.equal((await api.fetch('/fail', { method: 'POST' })).status, 500)
      await withSession(entries, () => Entry.create({ name: 'c' }))
      assert.deepEqual(await count(), [1, 2])
    })
    await undone()
    assert.deepEqual(await count(), [0, 0])
    const together = await Promise.allSettled([undone(), undone()])
    assert.match(
      JSON.stringify(together.map((result) => String(Object(result).reason))),
      /Run them one after the other/,
    )
    assert.deepEqual(await count(), [0, 0])
    await undone()
    assert.deepEqual(await count(), [0, 0])
  })
