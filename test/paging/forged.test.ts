import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Order } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Field, Get, select } from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import { type CursorPosition, writeCursor } from '../../src/paging/cursor/cursor.js'
import { databaseApp, databases } from '../support/databases.js'
import { bindingOf } from '../support/forge.js'
import { runs } from '../support/fuzz.js'
import { anyCharacter } from '../support/any-character.js'

/*
 * A client that knows the key can send a cursor with any values. The page may then begin anywhere in the list. The only error may be
 * that of a wrong input, and the values must not become part of the SQL.
 */

@Table({ tableName: 'prize', timestamps: false })
class Prize extends Base<Prize> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column(DataType.INTEGER) declare integer: number | null
  @Column(DataType.BIGINT) declare bigint: string | null
  @Column(DataType.DECIMAL(10, 2)) declare decimal: string | null
  @Column(DataType.DOUBLE) declare double: number | null
  @Column(DataType.STRING) declare string: string | null
  @Column(DataType.BOOLEAN) declare boolean: boolean | null
  @Column(DataType.DATEONLY) declare dateonly: string | null
  @Column(DataType.DATE(6)) declare date: Date | null
  @Column(DataType.TIME) declare time: string | null
  @Column(DataType.UUID) declare uuid: string | null
  @Column(DataType.ENUM('small', 'big')) declare enumeration: string | null
  @Column(DataType.BLOB) declare blob: Buffer | null
}

class Id {
  @Field({ type: 'integer' }) id!: number
}

let order: Order = []

@Controller('/')
class Prizes {
  @Get('/', Page.of(Id)) list(paginate: Paginate<Id>) {
    return paginate(select(Prize, { order }))
  }
}

/** Values that PostgreSQL refuses for a column of the type. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  integer: ['one', '2147483648', ''],
  bigint: ['1.5', '9223372036854775808'],
  decimal: ['ten', '1e'],
  double: ['x', '1e999'],
  string: [],
  boolean: ['maybe', '2'],
  dateonly: ['2024-13-45', 'soon'],
  date: ['noon', '2024-02-30 00:00:00+00', '999999-01-01'],
  time: ['25:61', 'x'],
  uuid: ['abc'],
  enumeration: ['huge'],
  blob: ['\\xzz', '\\'],
}
/** Values that MySQL would read as NULL, or as the number at the start of a string: the page would be empty, or begin anywhere. */
const REFUSED_BY_MYSQL = ['one', '', 'ten', '1e', 'x', 'maybe', '2024-13-45', 'soon', 'noon', '2024-02-30 00:00:00+00']
const NOT_OF_SQLITE = ['', 'ione', 'i', 'i1.5', 'rten', 'r', 'bzz', 'b\\', 'huge', 'noon']
const refusedBy: Readonly<Record<string, (column: string, text: string) => boolean>> = {
  postgres: (column, text) => REFUSED[column]?.includes(text) === true,
  mysql: (column, text) => !['string', 'uuid', 'blob'].includes(column) && REFUSED_BY_MYSQL.includes(text),
  mariadb: (column, text) => !['string', 'uuid', 'blob'].includes(column) && REFUSED_BY_MYSQL.includes(text),
  sqlite: (_, text) => NOT_OF_SQLITE.includes(text),
}
const SECRET = 'known to the forger'
const OTHERS = ["'; DROP TABLE prize; --", '$1', 'a\0b', '\ufffd', '9'.repeat(66), 'x'.repeat(60_000)]

const digits = (longest: number) => fc.nat(longest).map((length) => '9'.repeat(length))
const number = fc
  .tuple(fc.constantFrom('', '-'), digits(80), fc.constantFrom('', '.'), digits(50), fc.constantFrom('', 'e9', 'E999'))
  .map((parts) => parts.join(''))

/** In the form that a database writes, but of any length and beyond any range. */
const nearlyValid = fc.oneof(
  number,
  fc.stringMatching(/^\d{1,6}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,8})?)?)?([+-]\d\d|Z| BC)?$/),
  fc.stringMatching(/^-?\d{1,4}:\d\d(:\d\d(\.\d{0,8})?)?$/),
  fc.stringMatching(/^(\\x)?[\da-fA-F]{0,40}$/),
  fc.string({ unit: anyCharacter, maxLength: 20 }),
)

// The encoded values of SQLite begin with their type.
const TYPES_OF_SQLITE = ['', 'i', 'r', 't', 'b']

function junkOf(types: readonly string[], refused: readonly string[]): string[] {
  return types.flatMap((type) => [...refused, ...OTHERS].map((text) => type + text))
}

for (const kind of databases) {
  test(`on ${kind.name} a cursor forged with the key begins anywhere, or is refused`, async (t) => {
    const { fetch, log, database } = await databaseApp(t, kind, [Prize], [Prizes], { cursorSecret: SECRET })
    await Prize.bulkCreate([{ id: 1, integer: 1, string: 'a' }, { id: 2 }] as never[])
    const dialect = database.sequelize.getDialect()
    const key = dialect === 'sqlite' ? 'i1' : '1'
    const types = dialect === 'sqlite' ? TYPES_OF_SQLITE : ['']
    const follow = async (mark: CursorPosition) => {
      const cursor = writeCursor(mark, bindingOf(select(Prize, { order }), SECRET))
      if (cursor === undefined) return 422 // it would be too long for a parameter
      const answer = await fetch(`/?next_cursor=${cursor}`)
      const body = await answer.text()
      assert.ok(answer.status === 200 || answer.status === 422, `${JSON.stringify(mark)}: ${body} ${log.at(-1)}`)
      if (answer.status === 422)
        assert.deepEqual(JSON.parse(body).errors, [
          { in: 'query', path: '/next_cursor', message: 'is not a cursor of this list; begin again without it' },
        ])
      return answer.status
    }
    for (const [name, refused] of Object.entries(REFUSED)) {
      order = [name]
      log.length = 0
      for (const text of junkOf(types, refused)) {
        const status = await follow({ place: [text, key], shared: 0 })
        if (refusedBy[dialect]?.(name, text)) assert.equal(status, 422, `${name}: ${text}`)
      }
      assert.doesNotMatch(log.join(), /DROP|SELECT .*noon/)
    }
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(REFUSED)),
        fc.constantFrom(...types),
        nearlyValid,
        async (name, type, text) => {
          order = [name]
          await follow({ place: [type + text, key], shared: 0 })
        },
      ),
      { numRuns: runs(300) },
    )
    order = ['integer']
    for (const place of [[], [null], ['1'], ['1', null], [null, null], ['1', '1', '1']])
      assert.equal(await follow({ place, shared: 0 }), 422)
    for (const text of junkOf(types, ['x'])) await follow({ place: [null, text], shared: 1 })
    for (const shared of [1, 2, 200, 255]) await follow({ place: [null, key], shared })
    for (const proof of ['', 'x', '\0']) assert.equal(await follow({ place: [key], shared: 0, proof }), 422)
    assert.equal(await Prize.count(), 2)
  })
}

let integer = ''

@Controller('/filtered')
class Filtered {
  @Get('/', Page.of(Prize)) list(paginate: Paginate<Prize>) {
    return paginate(select(Prize, { where: { integer: integer as never }, order: ['id'] }))
  }
}

for (const kind of databases) {
  test(`on ${kind.name} a filter that its column cannot have is not reported as a fault of the cursor`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Prize], [Filtered], { cursorSecret: SECRET })
    const row = { integer: 1 }
    await Prize.bulkCreate([
      { id: 1, ...row },
      { id: 2, ...row },
    ] as never[])
    integer = '1'
    const { meta } = JSON.parse(await (await fetch('/filtered?limit=1')).text())
    integer = 'abc'
    for (const query of ['limit=1', `next_cursor=${meta.next_cursor}`]) {
      const response = await fetch(`/filtered?${query}`)
      assert.equal(response.status, 422)
      assert.doesNotMatch(await response.text(), /cursor/)
    }
  })
}
