import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreationOptional, type NonAttribute, QueryTypes } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript'
import { Base, Controller, dto, Field, Get, Page, Paginate, select, Session, sql } from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { databaseApp, databases } from '../support/databases.js'

/*
 * Values that a database stores and JSON, or the format of a response, does not have. The response is a 500, and the log names the row and
 * the column.
 */

@Table({ tableName: 'station', timestamps: false })
class Station extends Base<Station> {
  @Column({ type: DataType.STRING, primaryKey: true }) declare code: string
  @Column(DataType.DATE) declare opened: Date | null
}

@Table({ tableName: 'reading', timestamps: false })
class Reading extends Base<Reading> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column(DataType.DOUBLE) declare heat: number | null
  @Column(DataType.DATE) declare at: Date | null
  @Column(DataType.DATEONLY) declare day: string | null
  @ForeignKey(() => Station) @Column(DataType.STRING) declare station_code: string | null
  @BelongsTo(() => Station) declare station?: NonAttribute<Station | null>
}

class ReadingView extends dto(Reading, { pick: ['heat', 'at', 'day'] }) {}
class Plain {
  @Field({ type: 'integer' }) id!: number
  @Field({ type: 'number', nullable: true }) heat!: number | null
  @Field({ type: Date, nullable: true }) at!: Date | null
  @Field({ type: 'date', nullable: true }) day!: string | null
}

const inOrder = { order: ['id'] }

@Controller('/')
class Readings {
  @Get('/page', Page.of(Reading)) page(paginate: Paginate<Reading>) {
    return paginate(select(Reading, inOrder))
  }
  @Get('/plain-page', Page.of(Plain)) plainPage(paginate: Paginate<Plain>) {
    return paginate(select(Reading, inOrder))
  }
  @Get('/cursor', CursorPage.of(Reading)) cursor(paginate: CursorPaginate<Reading>) {
    return paginate(select(Reading, inOrder))
  }
  @Get('/list', [Reading]) list() {
    return Reading.findAll({ ...inOrder })
  }
  @Get('/dto', [ReadingView]) view(session: Session) {
    return session.all(select(Reading, inOrder))
  }
  @Get('/raw', [Plain]) async raw(session: Session) {
    return session.execute<never>(sql`SELECT * FROM reading ORDER BY id`)
  }
  @Get('/station', [Reading]) station() {
    return Reading.findAll({ ...inOrder, include: Station })
  }
}

/** SQL of values that cannot be sent, by the column that holds them. */
const VALUES: Readonly<Record<string, readonly (readonly [column: string, value: string])[]>> = {
  sqlite: [
    ['heat', '9e999'],
    ['heat', '-9e999'],
    ['at', `'0000-06-15 00:00:00.000 +00:00'`],
    ['at', `'noon'`],
    ['day', `'0000-06-15'`],
  ],
  postgres: [
    ['heat', `'NaN'`],
    ['heat', `'Infinity'`],
    ['heat', `'-Infinity'`],
    ['at', `'infinity'`],
    ['at', `'-infinity'`],
    ['at', `'0044-03-15 12:00:00+00 BC'`],
    ['at', `'10000-01-01 00:00:00+00'`],
    ['day', `'infinity'`],
    ['day', `'10000-01-01'`],
  ],
  mysql: [
    ['at', `'0000-06-15 00:00:00'`],
    ['at', `'0000-00-00 00:00:00'`],
    ['day', `'0000-06-15'`],
  ],
}

const paths = ['/page', '/plain-page', '/cursor', '/list', '/dto', '/raw']

for (const kind of databases) {
  test(`${kind.name}: a row that cannot be written as JSON is a 500 whose log entry names the row and the column`, async (t) => {
    const { fetch, log, database } = await databaseApp(t, kind, [Reading, Station], [Readings], {
      lifespan: { echo: false },
    })
    const run = (text: string) => database.sequelize.query(text, { type: QueryTypes.RAW })
    const dialect = database.sequelize.getDialect()
    await run(`INSERT INTO reading (id, heat) VALUES (1, 1.5)`)
    for (const [column, value] of VALUES[dialect] ?? VALUES['mysql'] ?? []) {
      await run(`INSERT INTO reading (id, ${column}) VALUES (17, ${value})`)
      for (const path of paths) {
        log.length = 0
        const response = await fetch(path)
        const text = await response.text()
        assert.equal(response.status, 500, `${path} ${column} ${value}: ${text}`)
        assert.doesNotMatch(text, /heat|Infinity|Reading/)
        assert.match(log.join('\n'), new RegExp(`/1/${column} is [^]* \\(in \\w+ \\{ id: 17 \\}\\)`), path)
      }
      await run('DELETE FROM reading WHERE id = 17')
    }
    assert.equal((await fetch('/page')).status, 200)
  })

  test(`${kind.name}: of an included row, the log entry names that row`, async (t) => {
    const { fetch, log, database } = await databaseApp(t, kind, [Reading, Station], [Readings], {
      lifespan: { echo: false },
    })
    const [, value] =
      (VALUES[database.sequelize.getDialect()] ?? VALUES['mysql'] ?? []).find(([name]) => name === 'at') ?? []
    await database.sequelize.query(`INSERT INTO station (code, opened) VALUES ('north', ${value})`)
    await database.sequelize.query(`INSERT INTO reading (id, station_code) VALUES (1, 'north')`)
    assert.equal((await fetch('/station')).status, 500)
    assert.match(log.join('\n'), /\/0\/station\/opened is [^]* \(in Station \{ code: north \}\)/)
  })
}
