import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, dto, Field, Get, notFound, Patch, Post, Query, Session } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'
import { componentsOf } from '../support/echo.js'
import { random, runs } from '../support/fuzz.js'
import { newAjvWithFormats } from '../support/json-schema.js'

@Table({ tableName: 'moment', timestamps: false })
class Moment extends Base<Moment> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column(DataType.DATE) declare at: Date | null
  @Column(DataType.DATE(6)) declare precise: Date | null
  @Column(DataType.DATEONLY) declare day: string | null
}
class NewMoment extends dto(Moment, { omit: ['id'] }) {}

class Sent {
  @Field() at!: Date
}

@Controller('/')
class Moments {
  @Post('/', Moment) create(input: NewMoment) {
    return Moment.create(input as never)
  }
  @Patch('/:id', Moment) async change(id: number, input: NewMoment, session: Session) {
    const moment = (await session.get(Moment, id)) ?? notFound()
    return moment.update(input as never)
  }
  @Get('/moments/:id', Moment) async get(id: number, session: Session) {
    return (await session.get(Moment, id)) ?? notFound()
  }
  @Get('/at', [Moment]) at(@Query() at: Date) {
    return Moment.findAll({ where: { at }, order: ['id'] })
  }
  @Get('/at/:precise', [Moment]) inPath(precise: Date) {
    return Moment.findAll({ where: { precise }, order: ['id'] })
  }
  @Get('/day/:day', [Moment]) onDay(day: string) {
    return Moment.findAll({ where: { day }, order: ['id'] })
  }
  @Post('/sent', Sent) send(input: Sent) {
    return input
  }
}

/** The first and the last points in time and days, and some beyond them. */
const EDGES: readonly string[] = [
  '0001-01-01T00:00:00Z',
  '0001-01-01T00:00:00+00:00',
  '0001-01-01T00:30:00+01:00',
  '0001-01-01T00:00:00-01:00',
  '0000-12-31T23:59:59-01:00',
  '0000-01-01T00:00:00Z',
  '0099-12-31T23:59:59.999Z',
  '0100-01-01T00:00:00.001Z',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59-01:00',
  '9999-12-31T23:59:59.999999Z',
  '2026-01-31T12:00:00.123456Z',
  '2026-01-31T12:00:00.123000Z',
  '2026-01-31T12:00:00.5+02:00',
  '2026-02-29T12:00:00Z',
  '2024-02-29T12:00:00Z',
  '2026-01-31T24:00:00Z',
  '2016-12-31T23:59:60Z',
  '2026-01-31t12:00:00z',
  '10000-01-01T00:00:00Z',
  '-0001-01-01T00:00:00Z',
]

const DAYS = ['0000-01-01', '0000-12-31', '0001-01-01', '0099-12-31', '9999-12-31', '2026-02-29', '2024-02-29']

/** A random point in time, often at an edge of years, days and digits. */
function anyTime(below: (count: number) => number): string {
  const pick = (texts: readonly string[]) => texts[below(texts.length)] as string
  const year = pick([
    '0000',
    '0001',
    '0002',
    '0049',
    '0050',
    '0099',
    '0100',
    '0999',
    '1000',
    '1582',
    '1900',
    '9998',
    '9999',
  ])
  const day = pick(['01-01', '12-31', '02-28', '02-29', '06-15'])
  const time = pick(['00:00:00', '23:59:59', '12:34:56', '00:30:00', '23:30:00'])
  const fraction = pick(['', '', '.1', '.120', '.999', '.9990', '.1234', '.000001', '.123000000', '.1230000000'])
  const zone = pick(['Z', 'Z', '+00:00', '-00:00', '+01:00', '-01:00', '+23:59', '-23:59', '+05:30'])
  return `${year}-${day}T${time}${fraction}${zone}`
}

/** Nanoseconds since 1970, computed without the digits that a Date loses. */
function nanoseconds(text: string): bigint {
  const [, whole = '', fraction = '', zone = ''] = /^(.{19})(?:\.(\d+))?(.*)$/.exec(text) ?? []
  return BigInt(Date.parse(`${whole}${zone}`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9))
}

/** Whether the OpenAPI document accepts a value of this property, by a validator that is not the app's. */
function documented(schema: object): (value: string) => boolean {
  const ajv = newAjvWithFormats()
  const validate = ajv.compile(schema)
  return (value) => validate(value)
}

for (const kind of databases) {
  test(`${kind.name}: a point in time that the document accepts is kept exactly, and any other is a 422`, async (t) => {
    const { app, fetch, log } = await databaseApp(t, kind, [Moment], [Moments])
    const accepts = documented(componentsOf(app)['NewMoment']?.properties['at'] ?? {})
    const below = random(12)
    const accepted = { yes: 0, no: 0 }
    for (const text of [...EDGES, ...Array.from({ length: runs(60) }, () => anyTime(below))]) {
      const isAccepted = accepts(text)
      accepted[isAccepted ? 'yes' : 'no']++
      const made = await fetch('/', { method: 'POST', json: { at: text, precise: text } })
      const sent = await fetch('/sent', { method: 'POST', json: { at: text } })
      const inQuery = await fetch(`/at?at=${encodeURIComponent(text)}`)
      const inPath = await fetch(`/at/${encodeURIComponent(text)}`)
      const [status, others] = isAccepted ? [201, 200] : [422, 422]
      const statuses = [made, sent, inQuery, inPath].map((response) => response.status)
      assert.deepEqual(statuses, [status, status, others, others], `${text} ${log.join('\n')}`)
      if (!isAccepted) continue
      const { id } = (await made.json()) as { id: number }
      const found = (await (await fetch(`/moments/${id}`)).json()) as { at: string; precise: string }
      assert.deepEqual(
        [nanoseconds(found.at), nanoseconds(found.precise)],
        [nanoseconds(text), nanoseconds(text)],
        text,
      )
      assert.equal(nanoseconds(((await sent.json()) as Sent).at as unknown as string), nanoseconds(text), text)
      for (const response of [inQuery, inPath])
        assert.ok(
          ((await response.json()) as { id: number }[]).some((one) => one.id === id),
          text,
        )
      log.length = 0
    }
    assert.ok(accepted.yes > 10 && accepted.no > 10, JSON.stringify(accepted))
  })

  test(`${kind.name}: a day that the document accepts is kept exactly, and any other is a 422`, async (t) => {
    const { app, fetch, log } = await databaseApp(t, kind, [Moment], [Moments])
    const accepts = documented(componentsOf(app)['NewMoment']?.properties['day'] ?? {})
    assert.deepEqual(DAYS.filter(accepts), ['0001-01-01', '0099-12-31', '9999-12-31', '2024-02-29'])
    for (const day of DAYS) {
      const made = await fetch('/', { method: 'POST', json: { day } })
      assert.equal(made.status, accepts(day) ? 201 : 422, `${day} ${log.join('\n')}`)
      if (!accepts(day)) continue
      const found = (await (await fetch(`/day/${day}`)).json()) as { day: string }[]
      assert.deepEqual(
        found.map((one) => one.day),
        [day],
      )
    }
  })

  test(`${kind.name}: a point in time that an update sets is kept exactly`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Moment], [Moments])
    await fetch('/', { method: 'POST', json: {} })
    for (const at of ['0001-01-01T00:00:00.000Z', '0099-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z']) {
      assert.equal((await fetch('/1', { method: 'PATCH', json: { at } })).status, 200)
      assert.equal(((await (await fetch('/moments/1')).json()) as { at: string }).at, at)
    }
  })
}
