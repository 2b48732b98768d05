import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Controller, createApp, Field, Get, Post, sql } from 'sequitur'
import { Rows, rows } from 'sequitur/exports'
import { memoryDatabase } from 'sequitur/testing'
import { databaseApp, databases } from '../support/databases.js'
import { runs } from '../support/fuzz.js'

class Line {
  @Field({ description: 'Its number.' }) number!: number
  @Field({ type: 'string', nullable: true }) text!: string | null
}
class Vote {
  @Field({ enum: [-1, 0, 1, '-x'] }) vote!: number | string
}

const header = (weight: string) => (type: string) => (weight === '' ? type : `${type};q=${weight}`)

@Controller('/lines')
class Lines {
  @Get('/', Rows.of(Line)) list() {
    return rows(sql<Line>`SELECT 1 AS number, '=1+1' AS text`)
  }
  @Post('/', Rows.of(Line, { spreadsheets: true }), { errors: { 409: 'It is full' } }) post() {
    return rows(sql<Line>`SELECT -1 AS number, '=1+1' AS text UNION ALL SELECT 2, NULL UNION ALL SELECT 3, 'a-b'`)
  }
  @Get('/votes', Rows.of(Vote, { spreadsheets: true })) votes() {
    return rows(sql<Vote>`SELECT -1 AS vote UNION ALL SELECT 1`)
  }
  @Get('/wrong', Rows.of(Line)) wrong() {
    return [] as never
  }
  @Get('/text', Rows.of(Line)) text() {
    return rows('SELECT 1' as never) as never
  }
}

const start = (t: Parameters<typeof databaseApp>[0]) => {
  const [kind] = databases
  assert.ok(kind)
  return databaseApp(t, kind, [], [Lines])
}

const CASES: readonly (readonly [accept: string | undefined, type: string | undefined])[] = [
  [undefined, 'application/x-ndjson'],
  ['', 'application/x-ndjson'],
  ['*/*', 'application/x-ndjson'],
  ['application/*', 'application/x-ndjson'],
  ['text/*', 'text/csv'],
  ['Text/CSV', 'text/csv'],
  ['application/json', 'application/json'],
  ['application/json; charset=utf-8', 'application/json'],
  ['application/json, text/plain, */*', 'application/json'],
  ['text/csv;q=0.5, application/json;q=0.4', 'text/csv'],
  ['text/csv;q=0.5, application/json;q=0.6', 'application/json'],
  ['text/csv;q=0, */*;q=0.1', 'application/x-ndjson'],
  ['application/x-ndjson;q=0, */*', 'application/json'],
  ['application/*;q=0.2, text/csv;q=0.1', 'application/x-ndjson'],
  ['text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8', 'application/x-ndjson'],
  ['text/html', undefined],
  ['*/*;q=0', undefined],
  ['text/csv;q=2', undefined],
  ['garbage', undefined],
  [';;;,,,', undefined],
]

test('Accept chooses the media type', async (t) => {
  const { fetch } = await start(t)
  for (const [accept, type] of CASES) {
    const response = await fetch('/lines', { headers: accept === undefined ? {} : { accept } })
    const found = response.headers.get('content-type')?.split(';')[0]
    assert.deepEqual([response.status, found], type ? [200, type] : [406, 'application/problem+json'], accept)
    assert.equal(response.headers.get('vary'), 'Accept')
    await response.text()
  }
})

test('whatever Accept is, the response is one of the three or a 406', async (t) => {
  const { fetch, log } = await start(t)
  const range = fc.oneof(
    fc.constantFrom(
      '*/*',
      'text/*',
      'application/*',
      'text/csv',
      'application/json',
      'application/x-ndjson',
      'a/b',
      '*',
    ),
    fc.stringMatching(/^[\x20-\x7e]{0,12}$/),
  )
  const weight = fc.constantFrom('', '0', '1', '0.5', '0.333', '1.0', '-1', '0.5555', 'x', '1e9', ' ')
  const accept = fc.array(fc.tuple(range, weight), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(accept, async (items) => {
      const value = items.map(([type, q]) => header(q)(type)).join(',')
      const response = await fetch('/lines', { headers: { accept: value } })
      const body = await response.text()
      assert.ok([200, 406].includes(response.status), `${value}: ${response.status}`)
      if (response.status === 200) assert.ok(body.includes('=1+1'))
    }),
    { numRuns: runs(300) },
  )
  assert.deepEqual(
    log.filter((line) => !line.startsWith('Executing')),
    [],
  )
})

test('for spreadsheets, a text that would be calculated begins with an apostrophe', async (t) => {
  const { fetch } = await start(t)
  const csv = { headers: { accept: 'text/csv' } }
  assert.equal(await (await fetch('/lines', csv)).text(), 'number,text\r\n1,=1+1\r\n')
  assert.equal(await (await fetch('/lines/votes', csv)).text(), 'vote\r\n-1\r\n1\r\n')
  const posted = await fetch('/lines', { method: 'POST', ...csv })
  assert.deepEqual([posted.status, await posted.text()], [200, `number,text\r\n-1,'=1+1\r\n2,\r\n3,a-b\r\n`])
})

test('a handler that returns something else is a 500 that says what to write', async (t) => {
  const { fetch, log } = await start(t)
  assert.deepEqual([(await fetch('/lines/wrong')).status, (await fetch('/lines/text')).status], [500, 500])
  const logged = log.join('\n')
  assert.ok(logged.includes('Lines.wrong declares rows, but returned a list. Write return rows(select(Hero)).'), logged)
  assert.ok(logged.includes("rows() takes a statement, got 'SELECT 1'. Write rows(select(Hero))"), logged)
})

test('the OpenAPI document has all three media types with the schema of a row', () => {
  const app = createApp({ controllers: [Lines], lifespan: memoryDatabase(), logger: false })
  const item = { $ref: '#/components/schemas/Line' }
  const { responses } = app.openapi().paths?.['/lines']?.post ?? {}
  assert.deepEqual(responses?.['200'], {
    description:
      'All rows: as JSON lines, one JSON array, or CSV with a line of names; a row has the schema x-item. A response that does not end is not complete',
    content: {
      'application/x-ndjson': { schema: { type: 'string' }, 'x-item': item },
      'application/json': { schema: { type: 'array', items: item } },
      'text/csv': { schema: { type: 'string' }, 'x-item': item },
    },
  })
  assert.deepEqual(Object.keys(responses ?? {}), ['200', '406', '409', '503', 'default'])
  assert.deepEqual(app.openapi().components?.schemas?.['Line'], {
    type: 'object',
    properties: { number: { type: 'number', description: 'Its number.' }, text: { type: ['string', 'null'] } },
    required: ['number', 'text'],
    additionalProperties: false,
  })
})
