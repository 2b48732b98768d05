import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Body, Controller, dto, Field, Post } from 'sequitur'
import { databaseApp, sqliteMemory } from '../support/databases.js'

/*
 * A request can be wrong in as many places as it has bytes. What is told of it is bounded.
 */

const codes = Array.from({ length: 5000 }, (_, index) => `country-${index}`)

@Table({ tableName: 'place', timestamps: false })
class Place extends Base<Place> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, validate: { isIn: [codes] } }) declare code: string
}

class NewPlace extends dto(Place, { pick: ['code'] }) {}

class Unchecked {
  @Field() code!: string
}

@Controller('/')
class Places {
  @Post('/checked') checked(@Body({ type: [NewPlace] }) places: NewPlace[]) {
    return places.length
  }
  @Post('/unchecked') async unchecked(@Body({ type: [Unchecked] }) places: Unchecked[]) {
    await Place.bulkCreate(places, { validate: true })
  }
}

for (const path of ['/checked', '/unchecked']) {
  test(`${path}: of thousands of rows that break a rule of thousands of values, a hundred are told, and some of the values`, async (t) => {
    const { fetch } = await databaseApp(t, sqliteMemory, [Place], [Places])
    const rows = Array.from({ length: 3000 }, () => ({ code: 'nowhere' }))
    const response = await fetch(path, { method: 'POST', json: rows })
    const text = await response.text()
    assert.equal(response.status, 422)
    const { errors } = JSON.parse(text)
    if (path === '/unchecked') assert.equal(errors.length, 100)
    assert.ok(errors.length >= 1 && errors.length <= 100, String(errors.length))
    for (const { message } of errors) {
      assert.match(message, /must be one of "country-0", "country-1", .{1,300} or 49\d\d other values$/)
    }
    assert.ok(text.length < 100_000, String(text.length))
  })
}
