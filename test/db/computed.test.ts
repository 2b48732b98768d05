import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreationOptional, literal } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, newLifespan, withSession } from 'sequitur'
import { databases } from '../support/databases.js'

@Table({ tableName: 'counter', timestamps: false })
class Counter extends Base<Counter> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, defaultValue: literal("'new'") })
  declare state: CreationOptional<string>
  @Column({ type: DataType.INTEGER, allowNull: false, field: 'times', defaultValue: 1 })
  declare count: CreationOptional<number>
}

for (const kind of databases) {
  test(`${kind.name}: after a save an instance has what the database has computed`, async () => {
    const database = newLifespan(await kind.url(), { sync: true, models: [Counter] })
    await withSession(database, async (session) => {
      const counter = session.add(Counter.build())
      await session.flush()
      assert.deepEqual(counter.get(), { id: 1, state: 'new', count: 1 })
      await counter.update({ count: literal('times + 5') as never })
      assert.deepEqual([counter.count, counter.changed()], [6, false])
      await session.refresh(counter)
      assert.equal(counter.count, 6)
    })
  })
}
