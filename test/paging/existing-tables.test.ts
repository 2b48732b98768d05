import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrderItem } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Field, Get, newLifespan, select, withSession } from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { testApp } from 'sequitur/testing'
import { databases } from '../support/databases.js'
import { random } from '../support/fuzz.js'
import { walk } from '../support/walk.js'

/*
 * A table that another program created. Its columns hold more than its model declares: the time of a day, more decimals, a BIT, an ENUM
 * that is a STRING in the model and the reverse, bytes; on SQLite, dates in the formats of several programs.
 */

@Table({ tableName: 'Old Parcels', timestamps: false })
class Parcel extends Base<Parcel> {
  @Column({ type: DataType.DECIMAL(10, 2), primaryKey: true, field: 'ParcelNo' }) declare no: string
  @Column({ type: DataType.DATEONLY, field: 'Sent' }) declare sent: string | null
  @Column({ type: DataType.DATE, field: 'Due' }) declare due: Date | null
  @Column({ type: DataType.DATE, field: 'Arrived' }) declare arrived: Date | null
  @Column({ type: DataType.TIME, field: 'At' }) declare at: string | null
  @Column({ type: DataType.DECIMAL(10, 1), field: 'Weight' }) declare weight: string | null
  @Column({ type: DataType.FLOAT, field: 'Price' }) declare price: number | null
  @Column({ type: DataType.BOOLEAN, field: 'Fragile' }) declare fragile: boolean | null
  @Column({ type: DataType.STRING, field: 'Size' }) declare size: string | null
  @Column({ type: DataType.ENUM('small', 'big', 'huge'), field: 'Format' }) declare format: string | null
  @Column({ type: DataType.CHAR(8), field: 'Code' }) declare code: string | null
  @Column({ type: DataType.STRING, field: 'Ratio' }) declare ratio: unknown
  @Column({ type: DataType.STRING, field: 'CursorPosition' }) declare mark: unknown
}

class ParcelModel {
  @Field({ type: 'decimal' }) no!: string
  @Field({ type: Date, nullable: true }) arrived!: Date | null
}

/** The columns in the order of the model, and their types. */
const COLUMNS = [
  'ParcelNo',
  'Sent',
  'Due',
  'Arrived',
  'At',
  'Weight',
  'Price',
  'Fragile',
  'Size',
  'Format',
  'Code',
  'Ratio',
  'CursorPosition',
]
const ALIKE = ['TIME', 'NUMERIC(10,4)', 'NUMERIC(10,2)']
const ENUM = "ENUM('small','big','huge')"
const TYPES = {
  sqlite: ['DATETIME', 'DATE', 'DATETIME', ...ALIKE, 'BOOLEAN', 'NVARCHAR(5)', 'TEXT', 'CHAR(8)', 'REAL', ''],
  postgres: [
    'TIMESTAMP',
    'DATE',
    'TIMESTAMPTZ',
    ...ALIKE,
    'BOOLEAN',
    'VARCHAR(5)',
    'VARCHAR(5)',
    'CHAR(8)',
    'REAL',
    'TEXT',
  ],
  mysql: [
    'DATETIME',
    'DATE',
    'DATETIME(6)',
    ...ALIKE,
    'BIT(1)',
    ENUM,
    'VARCHAR(5)',
    'CHAR(8)',
    'FLOAT',
    'VARBINARY(8)',
  ],
}

type Dialect = keyof typeof TYPES

async function makeTable(url: string, dialect: Dialect): Promise<void> {
  const quoted = (name: string) => (dialect === 'mysql' ? `\`${name}\`` : `"${name}"`)
  const types = ['NUMERIC(10,2) PRIMARY KEY', ...TYPES[dialect]]
  const columns = COLUMNS.map((name, index) => `${quoted(name)} ${types[index]}`).join(', ')
  const marks = COLUMNS.map((_, index) => `$${index + 1}`).join(', ')
  const table = quoted('Old Parcels')
  await withSession(newLifespan(url), ({ sequelize }) => sequelize.query(`CREATE TABLE ${table} (${columns})`))
  await withSession(newLifespan(url), async ({ sequelize }) => {
    for (const bind of rows(dialect)) await sequelize.query(`INSERT INTO ${table} VALUES (${marks})`, { bind })
  })
}

const ROWS = 40

function rows(dialect: Dialect): unknown[][] {
  const next = random(3)
  const any = <T>(...values: readonly T[]): T | null => (next(5) === 0 ? null : (values[next(values.length)] as T))
  const at = (zones: readonly string[]) => `2009-0${1 + next(2)}-01 0${next(3)}:00:00${any(...zones) ?? ''}`
  const byOthers = () => any(at(['.000 +00:00', '.123456', 'Z', '-05:00']), at(['']).replace(' ', 'T'), '2009-01-01')
  return Array.from({ length: ROWS }, (_, id) => [
    `${id}.${id % 10}5`,
    any(at([''])),
    any(`2009-01-0${1 + next(4)}`),
    dialect === 'sqlite' ? byOthers() : any(at(['.000001', '.000002'])),
    any(`0${next(3)}:00:00`),
    any('0.1234', '0.1235', '-0.15', '7'),
    any('0.99', '1.99', '-0.1'),
    dialect === 'sqlite' ? any(0, 1) : any(true, false),
    any('small', 'big', 'huge'),
    any('small', 'big', 'huge'),
    any('a', 'A ', 'É', ' ', ''),
    any(0.1, 0.2, 0.3),
    dialect === 'mysql'
      ? any(Buffer.of(255, 1), Buffer.of(254), Buffer.of(1, 0))
      : any<string | number>('10', '9', 'a', ...(dialect === 'sqlite' ? [1, 2, 10] : [])),
  ])
}

let order: OrderItem[] = []

@Controller('/parcels')
class Parcels {
  @Get('/', CursorPage.of(ParcelModel)) list(paginate: CursorPaginate<ParcelModel>) {
    return paginate(select(Parcel, { order }))
  }
}

for (const kind of databases.filter(({ name }) => name !== 'SQLite in memory')) {
  test(`cursor pages of a table that another program created on ${kind.name} are the whole list`, async (t) => {
    const url = await kind.url()
    const dialect = kind.name.startsWith('SQLite') ? 'sqlite' : kind.name === 'PostgreSQL' ? 'postgres' : 'mysql'
    await makeTable(url, dialect)
    const { fetch, close } = await testApp({ controllers: [Parcels], models: [Parcel], lifespan: newLifespan(url) })
    t.after(close)
    const names = Object.keys(Parcel.getAttributes())
    for (const name of names)
      for (const [direction, limit] of [
        ['ASC', 1],
        ['DESC', 7],
      ] as const) {
        order = [
          [name, direction],
          ['size', direction],
        ]
        const whole = await Parcel.findAll({ order: [...order, ['no', 'ASC']] })
        const seen = await walk(fetch, '/parcels', limit)
        const keyOf = ({ no }: { no?: unknown }) => Number(no)
        assert.deepEqual(seen.map(keyOf), whole.map(keyOf), `by ${name} ${direction}`)
      }
    order = ['no']
    const arrived = (await walk(fetch, '/parcels', 100)).flatMap(({ arrived }) => (arrived === null ? [] : [arrived]))
    for (const time of arrived) assert.match(String(time), /^2009-0[12]-01T0[0-7]:00:00\.\d{3}Z$/)
    if (dialect === 'sqlite') assert.match(arrived.join(), /T0[567]:/)
  })
}
