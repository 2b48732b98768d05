import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, newLifespan, withSession } from 'sequitur'
import { mysqls } from '../support/databases.js'

/*
 * Columns of existing tables that hold fewer digits of a second than JavaScript.
 */

@Table({ tableName: 'moment', timestamps: false })
class Moment extends Base<Moment> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.DATE, field: 'seen_at' }) declare at: Date | null
}

const TIMES = ['2026-01-31T12:00:00.600Z', '2026-01-31T12:00:01.000Z', '2026-12-31T23:59:59.999Z']

for (const kind of mysqls)
  for (const [type, milliseconds] of [
    // With the driver mariadb, Sequelize writes milliseconds for every column.
    ...(kind.name.includes('mysql2')
      ? ([
          ['DATETIME', false],
          ['TIMESTAMP', false],
        ] as const)
      : []),
    ['DATETIME(3)', true],
    ['DATETIME(6)', true],
    ['TIMESTAMP(3)', true],
  ] as const)
    test(`${kind.name}: a row is found by the value that it was written with, in a column of type ${type}`, async (t) => {
      const url = await kind.url()
      const creating = newLifespan(url)
      await withSession(creating, () =>
        creating.sequelize.query(`CREATE TABLE moment (id INTEGER PRIMARY KEY, seen_at ${type} NULL)`),
      )
      const database = newLifespan(url, { models: [Moment] })
      await database.start()
      t.after(() => database.stop())
      for (const [id, text] of TIMES.entries()) {
        const at = new Date(text)
        await Moment.create({ id, at })
        assert.equal(await Moment.count({ where: { at } }), 1, text)
        const kept = milliseconds ? text : text.replace(/\.\d+/, '.000')
        assert.equal((await Moment.findByPk(id))?.at?.toISOString(), kept)
        await Moment.update({ at }, { where: { at } })
        assert.equal((await Moment.findOne({ where: { at } }))?.id, id)
      }
    })
