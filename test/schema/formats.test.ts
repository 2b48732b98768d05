import assert from 'node:assert/strict'
import { isIPv6 } from 'node:net'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, dto, Field, Get, Header, Path, Query, type ValueOptions } from 'sequitur'
import { stringFormats } from '../../src/schema/shape/formats.js'
import { cpuMilliseconds } from '../support/cpu-time.js'
import { componentsOf, echo, issuesOf } from '../support/echo.js'
import { runs } from '../support/fuzz.js'

/** An app that takes a text of these options, and how to ask it about one. */
function asking(options: ValueOptions) {
  class Sample {
    declare value: string
  }
  Field({ type: 'string', ...options })(Sample.prototype, 'value')
  const { app, send } = echo(Sample)
  return { app, issues: async (value: string) => issuesOf(await send({ value })) }
}

/** After the RFC's appendix B: what stands between its signs, each by its own rule. */
function isAddress(text: string, isReference: boolean): boolean {
  const found = /^(?:([^:/?#]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/.exec(text)
  const [, scheme, authority, path = '', query = '', fragment = ''] = found ?? []
  const isOf = (part: string, signs: string) =>
    new RegExp(`^(?:[a-z0-9\\-._~!$&'()*+,;=${signs}]|%[0-9a-f]{2})*$`, 'i').test(part)
  const isScheme = scheme === undefined ? isReference : /^[a-z][a-z0-9+.-]*$/i.test(scheme)
  // A scheme alone, which the RFC has for a URI, most validators refuse.
  const isSomewhere = isReference || authority !== undefined || path !== ''
  const [, user = '', host = '', literal] = /^(?:([^@]*)@)?(\[([^\]]*)\]|[^:@]*)(?::[0-9]*)?$/.exec(
    authority ?? '',
  ) ?? ['', '[']
  const isHost =
    literal === undefined
      ? isOf(host, '')
      : /^v[0-9a-f]+\.[a-z0-9\-._~!$&'()*+,;=:]+$/i.test(literal) || isIPv6(literal)
  return (
    isScheme &&
    isSomewhere &&
    isOf(user, ':') &&
    isHost &&
    isOf(path, ':@/') &&
    isOf(query, ':@/?') &&
    isOf(fragment, ':@/?')
  )
}

const parts = [
  'a',
  'B',
  '1',
  ':',
  '/',
  '//',
  '?',
  '#',
  '@',
  '[',
  ']',
  '%',
  '%41',
  '%4',
  '.',
  '-',
  '+',
  '"',
  "'",
  ' ',
  'é',
  '\n',
  '<',
].concat([
  'http:',
  'a:',
  'x.y',
  ':80',
  '[::1]',
  '[::ffff:1.2.3.4]',
  '[v1.a]',
  '[1]',
  '1.2.3.4',
  '!',
  ',',
  '~',
  '\\',
  '^',
  '|',
  '{',
])
const addresses = fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((list) => list.join(''))

for (const format of ['uri', 'uri-reference'] as const) {
  test(`a text is of the format ${format} when RFC 3986 says so`, async () => {
    const { issues } = asking({ format })
    await fc.assert(
      fc.asyncProperty(addresses, async (text) => {
        assert.equal((await issues(text)).length === 0, isAddress(text, format === 'uri-reference'))
      }),
      { numRuns: runs(1500) },
    )
  })
}

const urls: readonly (readonly [text: string, isUrl: boolean])[] = [
  ['https://example.com', true],
  ['http://localhost:3000/a?b#c', true],
  ['HTTPS://Example.com/%41', true],
  ['ftp://user:password@example.com/file', true],
  ['http://[::1]:80/', true],
  ['https://bücher.example/ä', true],
  ['http://10.0.0.1', true],
  ['', false],
  ['example.com', false],
  ['//example.com', false],
  ['http:example.com', false],
  ['http://', false],
  ['http://a b', false],
  [' http://a', false],
  ['http://a\n', false],
  ['http://a:99999', false],
  ['http://[::1', false],
  ['http://1.2.3.4.5', false],
  ['javascript:alert(1)', false],
  ['javascript://a', false],
  ['file:///etc/passwd', false],
  ['data:text/html,a', false],
  [`http://${'a'.repeat(1025)}`, false],
]

for (const [text, isUrl] of urls) {
  test(`${JSON.stringify(text.slice(0, 40))} is ${isUrl ? 'a URL' : 'no URL'}`, async () => {
    const issues = await asking({ format: 'url' }).issues(text)
    assert.deepEqual(issues, isUrl ? [] : ['/value must be a URL such as https://example.com'])
  })
}

/** Texts of which one format or another has been slow somewhere. */
const units = [
  'a',
  'a.',
  'a-',
  ':',
  '@',
  'a:',
  'a:a@',
  '/',
  '%',
  '%41',
  '{a,',
  '~',
  '1',
  '1:',
  '0.',
  '\u0301\u0323',
  'é',
  ' ',
  '\n',
  'P1',
  'AAAA',
  '[',
  '(',
]
const beginnings = ['', 'http://', 'http://a', 'a@a', 'P', '2026-01-31T12:00:00.', '[']

for (const format of stringFormats as readonly NonNullable<ValueOptions['format']>[]) {
  test(`no text keeps the format ${format} busy`, async () => {
    const { issues } = asking({ format })
    await issues('a')
    for (const beginning of beginnings) {
      // A slow one takes two seconds and more, all of them together some hundred milliseconds.
      const spent = await cpuMilliseconds(async () => {
        for (const unit of units) await issues(`${beginning}${unit.repeat(30_000 / unit.length)}!`)
      })
      assert.ok(spent < 1500, `${format} ${JSON.stringify(beginning)}: ${spent} ms for ${units.length} texts of 30 kB`)
    }
  })
}

test('the longest regular expression that is taken is in the document', async () => {
  const { app, issues } = asking({ format: 'regex' })
  assert.deepEqual(componentsOf(app)['Sample']?.properties['value'], {
    type: 'string',
    format: 'regex',
    maxLength: 10_000,
  })
  assert.deepEqual(await issues('('.repeat(10_001)), ['/value must have at most 10000 characters'])
  assert.deepEqual(await issues('('), ['/value must be a valid regex'])
  const { app: own } = asking({ format: 'regex', maxLength: 20 })
  assert.deepEqual(componentsOf(own)['Sample']?.properties['value'], { type: 'string', format: 'regex', maxLength: 20 })
})

test('a whole number of any size has a longest text, which is in the document', async () => {
  class Sample {
    @Field({ type: 'bigint' }) value!: bigint
  }
  const { app, send } = echo(Sample)
  assert.equal((await send({ value: '7'.repeat(4096) })).statusCode, 201)
  assert.deepEqual(issuesOf(await send({ value: '7'.repeat(4097) })), ['/value must have at most 4096 characters'])
  assert.deepEqual(componentsOf(app)['Sample']?.properties['value'], {
    type: 'string',
    maxLength: 4096,
    pattern: '^-?(0|[1-9][0-9]*)$',
  })
})

const tooLong = 'é@'.repeat(11)
const bounded = { maxLength: 20, format: 'email', pattern: '^[a-z]+$' } as const

test('only the length of a text that is too long is reported, not its format and its pattern', async () => {
  const { issues } = asking(bounded)
  assert.deepEqual(await issues(tooLong), ['/value must have at most 20 characters'])
  assert.deepEqual(await issues('A'), ['/value must match pattern "^[a-z]+$"', '/value must be an e-mail address'])
  assert.deepEqual(await issues('🎉'.repeat(21)), ['/value must have at most 20 characters'])
  assert.equal((await issues('🎉'.repeat(20))).length, 2)
})

@Controller('/texts')
class Texts {
  @Get('/query') query(@Query(bounded) value: string) {
    return value
  }
  @Get('/header') header(@Header('x-value', bounded) value: string) {
    return value
  }
  @Get('/path/:value') path(@Path(bounded) value: string) {
    return value
  }
}

for (const [place, url, headers] of [
  ['query', `/texts/query?value=${encodeURIComponent(tooLong)}`, {}],
  ['header', '/texts/header', { 'x-value': '@'.repeat(21) }],
  ['path', `/texts/path/${encodeURIComponent(tooLong)}`, {}],
] as const) {
  test(`only the length of a text in the ${place} that is too long is reported`, async () => {
    const app = createApp({ controllers: [Texts], logger: false })
    const issues = issuesOf(await app.inject({ url, headers }))
    assert.deepEqual(
      issues.map((issue) => issue.replace(/^\S+ /, '')),
      ['must have at most 20 characters'],
    )
  })
}

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column({ type: DataType.STRING(20), validate: { isEmail: true, is: /^[a-z]+$/ } }) declare short: string
  @Column({ type: DataType.TEXT, validate: { isEmail: true, len: { args: [2, 20], msg: 'two to twenty' } } })
  declare ruled: string
}
class NewNote extends dto(Note, { pick: ['short', 'ruled'], partial: true }) {}

test('only the length of a text that is too long for its column, or for a rule of its length, is reported', async () => {
  const issues = async (json: object) => issuesOf(await echo(NewNote).send(json))
  assert.deepEqual(await issues({ short: tooLong }), ['/short must have at most 20 characters'])
  assert.deepEqual(await issues({ short: 'A', ruled: 'a' }), [
    '/short must be an e-mail address',
    '/short must match /^[a-z]+$/',
    '/ruled must be an e-mail address',
    '/ruled two to twenty',
  ])
  assert.deepEqual(await issues({ ruled: tooLong }), ['/ruled two to twenty'])
  assert.deepEqual(await issues({ ruled: '\ufe0f'.repeat(1000) }), ['/ruled two to twenty'])
})

test('a value is looked for among thousands at once, and a message shows some of them', async () => {
  const choices = Array.from({ length: 5000 }, (_, index) => `choice ${index}`)
  class Choice {
    @Field({ type: [String], enum: choices }) values!: string[]
  }
  const { send } = echo(Choice)
  const spent = await cpuMilliseconds(() => send({ values: Array(60_000).fill('choice 4999') }))
  assert.ok(spent < 1000, `${spent} ms`)
  const [issue = ''] = issuesOf(await send({ values: [''] }))
  assert.match(issue, /^\/values\/0 must be one of "choice 0", "choice 1", .{1,300} or 4\d\d\d other values$/)
})
