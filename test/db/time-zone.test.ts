import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DataTypes } from 'sequelize'
import { Column, Table } from 'sequelize-typescript'
import { Base, select, sql, withSession } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'

@Table({ tableName: 'moment', timestamps: false })
class Moment extends Base<Moment> {
  @Column({ type: DataTypes.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataTypes.DATE }) declare at: Date
}

// As of tables that were there before: a column that knows no time zone.
const ZONELESS = { postgres: 'TIMESTAMP', sqlite: 'DATETIME', mysql: 'DATETIME', mariadb: 'DATETIME' }
const MOMENTS = ['2021-01-01T00:00:00.000Z', '2021-03-14T02:30:00.000Z', '2021-11-07T05:30:00.000Z']

for (const kind of databases) {
  test(`${kind.name}: a moment is what was written, wherever the server of the app stands`, async (t) => {
    const before = process.env['TZ']
    process.env['TZ'] = 'America/New_York'
    t.after(() => (before === undefined ? delete process.env['TZ'] : (process.env['TZ'] = before)))
    const { database } = await databaseApp(t, kind, [Moment], [])
    const dialect = database.sequelize.getDialect() as keyof typeof ZONELESS
    await database.sequelize.query('DROP TABLE moment')
    await database.sequelize.query(`CREATE TABLE moment (id INTEGER PRIMARY KEY, at ${ZONELESS[dialect]}(6) NULL)`)
    await withSession(database, async (session) => {
      session.addAll(MOMENTS.map((at, id) => Moment.build({ id, at: new Date(at) })))
      await session.flush()
      const rows = await session.all(select(Moment, { order: ['id'] }))
      assert.deepEqual(
        rows.map(({ at }) => at.toISOString()),
        MOMENTS,
      )
      const [first] = await session.execute<{ at: Date | string }>(sql`SELECT at FROM moment WHERE id = 0`)
      assert.equal(new Date(first?.at ?? 0).toISOString(), MOMENTS[0])
    })
  })
}
