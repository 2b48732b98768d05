import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Field, Get, Query, select, sql } from 'sequitur'
import { Rows, rows } from 'sequitur/exports'
import { type DatabaseApp, databaseApp, databases, mysqls, postgres } from '../support/databases.js'

/*
 * Values at the boundaries of every type: whatever a row has, its export ends, says so, and leaves its place to the next one.
 */

@Table({ tableName: 'odd', timestamps: false })
class Odd extends Base<Odd> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(500) }) declare text: string | null
  @Column({ type: DataType.DECIMAL(20, 4) }) declare price: string | null
  @Column({ type: DataType.BIGINT }) declare big: string | null
  @Column({ type: DataType.INTEGER }) declare small: number | null
  @Column({ type: DataType.DOUBLE }) declare ratio: number | null
  @Column({ type: DataType.FLOAT }) declare share: number | null
  @Column({ type: DataType.BOOLEAN }) declare yes: boolean | null
  @Column({ type: DataType.DATE(3) }) declare at: Date | null
  @Column({ type: DataType.DATEONLY }) declare day: string | null
  @Column({ type: DataType.BLOB }) declare bytes: Buffer | null
  @Column({ type: DataType.JSON }) declare data: unknown
}

const COLUMNS = ['text', 'price', 'big', 'small', 'ratio', 'share', 'yes', 'at', 'day', 'bytes', 'data']

class AsNumber {
  @Field({ type: 'number', nullable: true }) value!: number | null
}
class AsInteger {
  @Field({ type: 'integer', nullable: true }) value!: number | null
}
class AsBigint {
  @Field({ type: 'bigint', nullable: true }) value!: string | null
}
class AsText {
  @Field({ type: 'string', nullable: true }) value!: string | null
}

function valueOf<T>(value: string) {
  return rows({ kind: 'sql', texts: [`SELECT ${value} AS value`], values: [] } as unknown as ReturnType<typeof sql<T>>)
}

@Controller('/')
class Exports {
  @Get('/model', Rows.of(Odd, { atOnce: 1 })) model() {
    return rows(select(Odd, { order: ['id'] }))
  }
  @Get('/number', Rows.of(AsNumber, { atOnce: 1 })) number(@Query() value: string) {
    return valueOf<AsNumber>(value)
  }
  @Get('/integer', Rows.of(AsInteger, { atOnce: 1 })) integer(@Query() value: string) {
    return valueOf<AsInteger>(value)
  }
  @Get('/bigint', Rows.of(AsBigint, { atOnce: 1 })) bigint(@Query() value: string) {
    return valueOf<AsBigint>(value)
  }
  @Get('/text', Rows.of(AsText, { atOnce: 1 })) text(@Query() value: string) {
    return valueOf<AsText>(value)
  }
}

const NUMBERS = ['1e15', '9007199254740991', '9007199254740992', '-9007199254740993', '1e16', '1e300', '-1e300']
const TEXTS = [`''`, `'x'`, `'12'`, `'[1,2'`, `'{"a":1e300}'`, `'{"a":9007199254740993}'`, `'0000-00-00'`]
const DATES = [`'-001-13-45'`, `'9999-12-31 23:59:59.999'`, `'2024-02-30'`, `'infinity'`, `'-infinity'`, `'NaN'`]

const SQLITE = [
  '9e999',
  '-9e999',
  `char(0)`,
  `'a' || char(0) || 'b'`,
  `x'00ff'`,
  'zeroblob(100)',
  '9223372036854775807',
]
const POSTGRES = [
  `'NaN'::float8`,
  `'Infinity'::float8`,
  `'NaN'::numeric`,
  `'Infinity'::numeric`,
  `'infinity'::timestamptz`,
]
const MORE_POSTGRES = [`'4713-01-01 BC'::date`, `'294276-12-31'::timestamp`, `'\\x00ff'::bytea`, `'1e400'::numeric`]
const MYSQL = [`CHAR(0)`, `X'00ff'`, `CAST('0000-00-00' AS DATE)`, `CAST('838:59:59' AS TIME)`, '18446744073709551615']

function ownOf(kind: (typeof databases)[number]): readonly string[] {
  if (kind === postgres) return [...POSTGRES, ...MORE_POSTGRES]
  return mysqls.includes(kind) ? MYSQL : SQLITE
}

const MEDIA = ['application/x-ndjson', 'application/json', 'text/csv']

let turn = 0

/** All on the first database, one after the other on those whose values are read alike. */
function mediaFor(kind: (typeof databases)[number]): readonly string[] {
  if (kind === databases[0]) return MEDIA
  turn = (turn + 1) % MEDIA.length
  return MEDIA.slice(turn, turn + 1)
}

/** Reads an export to its end, as these media types: all of it, or an error that the log has. */
async function assertEnds({ fetch, log }: DatabaseApp, path: string, media: readonly string[]): Promise<void> {
  for (const accept of media) {
    log.length = 0
    const response = await fetch(path, { headers: { accept } })
    const isWhole = await response.text().then(
      (text) => response.status === 200 && !text.includes('"urn:request:'),
      () => false,
    )
    assert.ok(isWhole || response.status === 503 || log.length > 0, `${path} as ${accept}: ${response.status}, no log`)
    const next = await fetch('/number?value=1')
    assert.equal(`${next.status} ${await next.text()}`, '200 {"value":1}\n', `after ${path} as ${accept}`)
  }
}

for (const kind of databases) {
  const values = [...NUMBERS, ...TEXTS, ...DATES, ...ownOf(kind)]

  test(`whatever value a statement has, its export ends, on ${kind.name}`, async (t) => {
    const app = await databaseApp(t, kind, [Odd], [Exports], { lifespan: { echo: false } })
    for (const value of values)
      for (const type of ['number', 'integer', 'bigint', 'text'])
        await assertEnds(app, `/${type}?value=${encodeURIComponent(value)}`, mediaFor(kind))
  })

  test(`whatever value a column has, its export ends, on ${kind.name}`, async (t) => {
    const app = await databaseApp(t, kind, [Odd], [Exports], { lifespan: { echo: false } })
    const { sequelize } = app.database
    let stored = 0
    for (const column of COLUMNS)
      for (const value of values) {
        const isStored = await sequelize.query(`INSERT INTO odd (${column}) VALUES (${value})`).then(
          () => true,
          () => false,
        )
        if (!isStored) continue
        stored++
        await assertEnds(app, '/model', mediaFor(kind))
        await sequelize.query('DELETE FROM odd')
      }
    assert.ok(stored > COLUMNS.length * 2, `only ${stored} values were stored`)
  })

  test(`a large number in a later batch is read exactly, in each column that has one, on ${kind.name}`, async (t) => {
    const app = await databaseApp(t, kind, [Odd], [Exports], { lifespan: { echo: false } })
    const at = (value: number) => ({ big: String(value), ratio: value / 2 })
    const made = Array.from({ length: 600 }, (_, row) => at(row))
    await Odd.bulkCreate([
      ...made,
      { big: '1', ratio: 1e17 },
      ...made,
      { big: '9007199254740993' },
      ...made,
    ] as object[])
    const lines = (await (await app.fetch('/model')).text()).trimEnd().split('\n')
    const found = lines.map((line) => JSON.parse(line) as { id: number; big: string; ratio: number | null })
    assert.deepEqual(
      found.map(({ id }) => id),
      Array.from({ length: 1_802 }, (_, row) => row + 1),
    )
    assert.deepEqual([found[600]?.ratio, found[1201]?.big], [1e17, '9007199254740993'])
  })
}
