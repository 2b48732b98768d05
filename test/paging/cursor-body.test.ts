import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import * as fc from 'fast-check'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Get, select } from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { readCursor, writeCursor } from '../../src/paging/cursor/cursor.js'
import { bindingOf, sign } from '../support/forge.js'
import { runs } from '../support/fuzz.js'
import { anyCharacter } from '../support/any-character.js'

const key = 'the key of this app'
const binding = { key, list: 'the list' }
const lengths = { order: 3, key: 1 }

const value = fc.option(
  fc.oneof(fc.string({ unit: anyCharacter, maxLength: 40 }), fc.constantFrom('\ufeffa', 'a\0b', '')),
)
const lastValue = fc.string({ unit: anyCharacter, maxLength: 20 })
const plain = { noNullPrototype: true }
const position = fc.oneof(
  fc.record({ place: fc.tuple(value, value, lastValue), shared: fc.nat(2) }, plain),
  fc.record({ place: fc.tuple(lastValue), shared: fc.nat(2), proof: lastValue }, plain),
)

/** A value that declares a length other than its own. */
const claimedValue = fc
  .tuple(fc.nat(0xffff), fc.uint8Array({ maxLength: 20 }), fc.boolean())
  .map(([claim, bytes, honest]) => {
    const length = honest ? bytes.length + 1 : claim
    return Buffer.from([length >> 8, length & 0xff, ...bytes])
  })
const claimedBody = fc
  .tuple(
    fc.constantFrom(1, 2, 3, 0x41, 0x42, 0x81, 0x82, 0xc2, 0xff),
    fc.boolean(),
    fc.nat(255),
    fc.array(claimedValue, { maxLength: 6 }),
  )
  .map(([version, deflated, shared, values]) => {
    const plain = Buffer.concat([Buffer.of(shared), ...values])
    return Buffer.concat([Buffer.of(version), deflated ? deflateRawSync(plain) : plain])
  })
const changedBody = fc
  .tuple(position, fc.array(fc.tuple(fc.nat(600), fc.nat(255)), { maxLength: 4 }), fc.nat(600))
  .map(([written, changes, length]) => {
    const body = Buffer.from(writeCursor(written, binding) ?? '', 'base64url').subarray(0, -16)
    for (const [at, byte] of changes) body[at] = byte
    return body.subarray(0, length)
  })
/** A varint, as the first version of cursors wrote lengths, of any number of bytes. */
const varintBody = fc
  .tuple(fc.constantFrom(1, 2), fc.uint8Array({ min: 0x80, maxLength: 12 }), fc.nat(0x7f))
  .map(([version, more, last]) => Buffer.from([version, 0, ...more, last]))
const anyBody = fc.oneof(fc.uint8Array({ maxLength: 360 }), claimedBody, changedBody, varintBody)

test('a cursor is read as it was written', () => {
  fc.assert(
    fc.property(position, (written) => {
      const cursor = writeCursor(written, binding)
      if (cursor !== undefined) assert.deepEqual(readCursor(cursor, binding, lengths), written)
    }),
    { numRuns: runs(500) },
  )
})

test('only the values of a long cursor are compressed', () => {
  for (const [length, isCompressed] of [
    [20, false],
    [500, true],
  ] as const) {
    const written = { place: [null, 'a'.repeat(length), '7'], shared: 0 }
    const cursor = writeCursor(written, binding) ?? ''
    const [version = 0] = Buffer.from(cursor, 'base64url')
    assert.deepEqual([(version & 0x80) !== 0, cursor.length < 100], [isCompressed, true])
    assert.deepEqual(readCursor(cursor, binding, lengths), written)
  }
})

test('any signed bytes are read as a whole cursor within its bounds, or not at all', () => {
  fc.assert(
    fc.property(anyBody, (body) => {
      const read = readCursor(sign(body, binding), binding, lengths)
      if (!read) return
      assert.equal(read.place.length, read.proof === undefined ? 3 : 1)
      assert.ok(read.shared < 3 && [read.proof ?? '', ...read.place].join('').length < 4096)
    }),
    { numRuns: runs(5000) },
  )
})

test('values that inflate to more bytes than a cursor may hold are not read', () => {
  for (const length of [4000, 5000, 300_000]) {
    const text = Buffer.alloc(length, 'x')
    const claim = Math.min(length + 1, 0xffff)
    const plain = Buffer.from([0, 0, 0, 0, 0, claim >> 8, claim & 0xff, ...text])
    const body = Buffer.concat([Buffer.of(0x82), deflateRawSync(plain)])
    assert.equal(readCursor(sign(body, binding), binding, lengths) !== undefined, length === 4000)
  }
})

@Table({ tableName: 'star', timestamps: false })
class Star extends Base<Star> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING }) declare name: string | null
  @Column({ type: DataType.INTEGER }) declare mass: number | null
}

const list = () => select(Star, { order: ['mass', 'name'] })

@Controller('/')
class Stars {
  @Get('/', Page.of(Star)) list(paginate: Paginate<Star>) {
    return paginate(list())
  }
}

/** Lengths on which reading once never ended, in the first version and in this one. */
const ONCE_ENDLESS = ['0100fcffffff0f', '0200fcffffff0f', '0200ffffffff0f'].map((hex): [Uint8Array<ArrayBuffer>] => [
  Uint8Array.from(Buffer.from(hex, 'hex')),
])

test('the response to any signed bytes is a page or a 422', async (t) => {
  const { app, close } = await testApp({
    controllers: [Stars],
    models: [Star],
    lifespan: memoryDatabase(),
    cursorSecret: key,
  })
  t.after(close)
  await Star.bulkCreate([{ id: 1, name: 'Sol', mass: 1 }, { id: 2 }] as never[]) // the others are NULL
  const ofStars = bindingOf(list(), key)
  await fc.assert(
    fc.asyncProperty(anyBody, async (body) => {
      const { statusCode } = await app.inject(`/?next_cursor=${sign(body, ofStars)}`)
      assert.ok(statusCode === 200 || statusCode === 422, String(statusCode))
    }),
    { numRuns: runs(400), examples: ONCE_ENDLESS },
  )
})
