// The same on both query paths: it executes no statement.
// Needs a process of its own: it measures time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DataTypes, Model, type ModelValidateOptions, Sequelize } from 'sequelize'
import { dto } from 'sequitur'
import { cpuMilliseconds } from '../support/cpu-time.js'
import { echo } from '../support/echo.js'

const sequelize = new Sequelize('mariadb://localhost/none', { logging: false })
const { Validator } = Sequelize as unknown as { Validator: Readonly<Record<string, unknown>> }

/** The rules that need more than `true`. */
const ARGUMENTS: Readonly<Record<string, unknown>> = {
  len: [1, 10],
  isLength: [1, 10],
  isByteLength: [1, 10],
  isIn: [['a', 'b']],
  notIn: [['a', 'b']],
  isUUID: 4,
  isIPRange: 4,
  isAfter: '2026-01-31',
  isBefore: '2026-01-31',
  contains: 'ab',
  notContains: 'ab',
  equals: 'ab',
  min: 1,
  max: 10,
  isMobilePhone: 'de-DE',
  isPostalCode: 'DE',
  isIdentityCard: 'ES',
  isLicensePlate: 'de-DE',
  isPassportNumber: 'DE',
  isVAT: 'DE',
  isTaxID: 'de-DE',
  isHash: 'md5',
  isWhitelisted: 'abc',
  isISBN: 13,
}

const names = Object.keys(Validator).filter(
  (name) => typeof Validator[name] === 'function' && /^(?:is[A-Z]|not[A-Z]|contains|equals|len|min|max)/.test(name),
)
const rules = names.filter((name) => !['isImmutable', 'notRegex', 'notNull'].includes(name))

const units = ['a.', 'a-', '@', '1:', '%', ' ', 'a:a@', '&#', ';a=']
const beginnings = ['', 'http://a', 'data:a/b;']

for (const rule of rules) {
  test(`no text keeps the rule ${rule} of a column without a length busy`, async () => {
    class Ruled extends Model {}
    const validate = { [rule]: ARGUMENTS[rule] ?? true } as ModelValidateOptions
    Ruled.init({ value: { type: DataTypes.TEXT, validate } }, { sequelize, timestamps: false })
    class NewRuled extends dto(Ruled as never, { omit: ['id'] as never }) {}
    const { send } = echo(NewRuled)
    const spent = await cpuMilliseconds(async () => {
      for (const beginning of beginnings)
        for (const unit of units) {
          const { statusCode } = await send({ value: `${beginning}${unit.repeat(30_000 / unit.length)}!` })
          assert.ok(statusCode === 201 || statusCode === 422, `${rule} of ${beginning}${unit}: ${statusCode}`)
        }
    })
    // A rule that takes time with the square of a text needs a second for one of these.
    assert.ok(spent < 2000, `${rule}: ${spent} ms`)
  })
}
