import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, dto, Get, notFound, Post, Session } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'
import { componentsOf } from '../support/echo.js'
import { random, runs } from '../support/fuzz.js'
import { newAjvWithFormats } from '../support/json-schema.js'

@Table({ tableName: 'kept', timestamps: false })
class Kept extends Base<Kept> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column(DataType.INTEGER) declare integer: number | null
  @Column(DataType.SMALLINT) declare small: number | null
  @Column(DataType.DOUBLE) declare double: number | null
  @Column(DataType.BIGINT) declare big: string | null
  @Column(DataType.DECIMAL(7, 2)) declare decimal: string | null
  @Column(DataType.UUID) declare uuid: string | null
  @Column(DataType.TIME) declare time: string | null
  @Column(DataType.BOOLEAN) declare flag: boolean | null
  @Column(DataType.STRING(5)) declare text: string | null
}
class NewKept extends dto(Kept, { omit: ['id'] }) {}

@Controller('/')
class Values {
  @Post('/', Kept) create(input: NewKept) {
    return Kept.create(input as never)
  }
  @Get('/:id', Kept) async get(id: number, session: Session) {
    return (await session.get(Kept, id)) ?? notFound()
  }
}

/** JSON of values at the edges of types; each is sent to each column. */
const TEXTS = [
  '0',
  '-0',
  '1',
  '-1',
  '1.5',
  '1e-7',
  '-2.5e-300',
  '5e-324',
  '1.7976931348623157e308',
  '1e21',
  '0.1',
  '1e3',
  '32767',
  '32768',
  '-32768',
  '-32769',
  '2147483647',
  '2147483648',
  '-2147483648',
  '-2147483649',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  'true',
  'false',
  'null',

  '"9223372036854775807"',
  '"9223372036854775808"',
  '"-9223372036854775808"',
  '"0"',
  '"1"',
  '"01"',
  '"+1"',
  '"1e3"',

  '"0.10"',
  '"99999.99"',
  '"100000.00"',
  '"-99999.99"',
  '"1.005"',
  '"NaN"',
  '""',
  '" "',
  '"a"',
  '"aaaaa"',
  '"aaaaaa"',

  '"🎉🎉🎉🎉🎉"',
  '"a  "',
  '"\'; --"',
  '"\\\\"',
  '"23:59:59"',
  '"00:00:00"',
  '"24:00:00"',
  '"12:00"',
  '"0198a3c4-7b1e-7000-8000-00000000000a"',
  '"0198A3C4-7B1E-7000-8000-00000000000A"',
  '"0198a3c4"',
]

/** The value as all its notations have it: '1.50' is 1.5, and a UUID has no case. */
function plain(name: string, value: unknown): unknown {
  if (typeof value === 'number') return value + 0 // -0 is 0
  if (name === 'decimal' && typeof value === 'string') return Number(value)
  if (name === 'big' && typeof value === 'string') return BigInt(value)
  return name === 'uuid' && typeof value === 'string' ? value.toLowerCase() : value
}

for (const kind of databases) {
  test(`${kind.name}: a value that the document accepts is kept exactly, and any other is a 422`, async (t) => {
    const { app, fetch, log } = await databaseApp(t, kind, [Kept], [Values], { lifespan: { echo: false } })
    const ajv = newAjvWithFormats()
    // ajv-formats knows this format of the OpenAPI registry for numbers only.
    ajv.addFormat('int64', { type: 'string', validate: (text) => BigInt.asIntN(64, BigInt(text)) === BigInt(text) })
    const below = random(5)
    const randomDoubles = Array.from({ length: runs(20) }, () =>
      String((below(2 ** 31) - 2 ** 30) * 10 ** (below(600) - 300)),
    )
    for (const [name, schema] of Object.entries(componentsOf(app)['NewKept']?.properties ?? {})) {
      const accepts = ajv.compile(schema)
      for (const text of name === 'double' ? [...TEXTS, ...randomDoubles] : TEXTS) {
        const value: unknown = JSON.parse(text)
        const headers = { 'content-type': 'application/json' }
        const made = await fetch('/', { method: 'POST', headers, body: `{"${name}":${text}}` })
        const what = `${name} ${text} ${log.join('\n')}`
        assert.equal(made.status, accepts(value) ? 201 : 422, what)
        if (made.status === 422) continue
        const first = (await made.json()) as Record<string, unknown>
        const found = (await (await fetch(`/${String(first['id'])}`)).json()) as Record<string, unknown>
        assert.deepEqual(found, first, what)
        assert.deepEqual(plain(name, found[name]), plain(name, value), what)
      }
    }
  })
}
