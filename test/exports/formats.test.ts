import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Field, Get, Page, Paginate, select, sql } from 'sequitur'
import { Rows, rows } from 'sequitur/exports'
import { databaseApp, databases } from '../support/databases.js'
import { parseCsv } from '../support/csv.js'

@Table({ tableName: 'thing', timestamps: false })
class Thing extends Base<Thing> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, field: 'some_text' }) declare text: string | null
  @Column({ type: DataType.DECIMAL(20, 4) }) declare price: string | null
  @Column({ type: DataType.BIGINT }) declare big: string | null
  @Column({ type: DataType.DOUBLE }) declare ratio: number | null
  @Column({ type: DataType.BOOLEAN }) declare yes: boolean | null
  @Column({ type: DataType.DATE(3) }) declare at: Date | null
  @Column({ type: DataType.DATEONLY }) declare day: string | null
  @Column({ type: DataType.BLOB }) declare bytes: Buffer | null
  @Column({ type: DataType.JSON }) declare data: unknown
}

class Line {
  @Field({ type: 'integer' }) id!: number
  @Field({ type: 'string', nullable: true }) text!: string | null
  @Field({ type: 'bigint', nullable: true }) big!: string | null
}

@Controller('/things')
class Things {
  @Get('/', Page.of(Thing)) list(paginate: Paginate<Thing>) {
    return paginate(select(Thing, { order: ['id'] }))
  }
  @Get('/export', Rows.of(Thing)) export() {
    return rows(select(Thing, { order: ['id'] }))
  }
  @Get('/sql', Rows.of(Line)) sql() {
    return rows(sql<Line>`SELECT id, some_text AS text, big FROM thing WHERE id > ${0} ORDER BY id`)
  }
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.stringMatching(/^[",;'\r\n \t=+@-]{0,8}$/),
  fc.constantFrom('', ' ', '""', 'NULL', 'null', '\u2028', '😀', "it's"),
)
const nullable = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })
const thing = fc.record({
  text: nullable(text.map((value) => value.replaceAll('\0', '').toWellFormed())),
  price: nullable(
    fc.bigInt({ min: -(10n ** 19n), max: 10n ** 19n }).map(
      (cents) =>
        `${cents / 10_000n}.${String(cents % 10_000n)
          .replace('-', '')
          .padStart(4, '0')}`,
    ),
  ),
  big: nullable(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)),
  ratio: nullable(fc.integer({ min: -1e6, max: 1e6 }).map((number) => number / 8)),
  yes: nullable(fc.boolean()),
  at: nullable(fc.date({ min: new Date('1990-01-01'), max: new Date('2037-01-01'), noInvalidDate: true })),
  day: nullable(
    fc
      .date({ min: new Date('1990-01-01'), max: new Date('2037-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 10)),
  ),
  bytes: nullable(fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes))),
  data: nullable(fc.constantFrom<unknown>({ a: [1, 'x'] }, [1, 2], { 'q"': 'ü,\n' })),
})

/** A cell of CSV as the value that JSON has. */
function fromCell(name: string, cell: string | null): unknown {
  if (cell === null) return null
  return ['id', 'ratio', 'yes', 'data'].includes(name) ? JSON.parse(cell) : cell
}

function fromCsv(body: string): unknown[] {
  const [names = [], ...lines] = parseCsv(body)
  return lines.map((cells) =>
    Object.fromEntries(names.map((name, at) => [name, fromCell(String(name), cells[at] ?? null)])),
  )
}

function fromLines(body: string): unknown[] {
  assert.ok(body === '' || body.endsWith('\n'))
  return body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown)
}

for (const database of databases) {
  test(`all three formats have what the list has, on ${database.name}`, async (t) => {
    const { fetch, database: db } = await databaseApp(t, database, [Thing], [Things])
    const text = async (path: string, accept: string) => {
      const response = await fetch(path, { headers: { accept } })
      assert.equal(response.status, 200)
      return response.text()
    }
    await fc.assert(
      fc.asyncProperty(fc.array(thing, { maxLength: 12 }), async (things) => {
        await Thing.destroy({ where: {} })
        await Thing.bulkCreate(things as object[])
        const { data } = (await (await fetch('/things?limit=100')).json()) as { data: Record<string, unknown>[] }
        assert.equal(data.length, things.length)
        assert.deepEqual(JSON.parse(await text('/things/export', 'application/json')), data)
        assert.deepEqual(fromLines(await text('/things/export', 'application/x-ndjson')), data)
        assert.deepEqual(fromCsv(await text('/things/export', 'text/csv')), data)
        const lines = data.map(({ id, text, big }) => ({ id, text, big }))
        assert.deepEqual(fromLines(await text('/things/sql', '*/*')), lines)
        assert.deepEqual(fromCsv(await text('/things/sql', 'text/csv')), lines)
      }),
      { numRuns: 25 },
    )
    assert.equal(db.isRunning, true)
  })

  test(`the rows of many batches are those of the list, on ${database.name}`, async (t) => {
    const { fetch } = await databaseApp(t, database, [Thing], [Things])
    const values = (at: number) => ({
      text: 'x'.repeat(at % 250),
      big: at % 777 === 776 ? '9007199254740993' : String(at),
    })
    await Thing.bulkCreate(Array.from({ length: 3_000 }, (_, at) => values(at)) as object[])
    const found = fromLines(await (await fetch('/things/sql')).text()) as Line[]
    assert.deepEqual(
      found.map(({ text, big }) => ({ text, big })),
      Array.from({ length: 3_000 }, (_, at) => values(at)),
    )
    const all = (await (await fetch('/things/export', { headers: { accept: 'application/json' } })).json()) as Line[]
    assert.deepEqual(
      all.map(({ id, text, big }) => ({ id, text, big })),
      found,
    )
  })
}
