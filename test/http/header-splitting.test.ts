import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { Body, Controller, file, HttpError, Post, redirect, reply } from 'sequitur'
import { api } from '../support/api.js'
import { runs } from '../support/fuzz.js'
import { anyCharacter } from '../support/any-character.js'

/*
 * Whatever text a program puts into a header, the head of the answer has no header that the text brought along, and there is one answer.
 */

const places: Readonly<Record<string, (text: string) => unknown>> = {
  'the value of a header': (text) => reply('x', { headers: { 'x-name': text } }),
  'the name of a header': (text) => reply('x', { headers: { [text]: 'x' } }),
  'a cookie': (text) => reply('x', { headers: { 'set-cookie': ['a=1', `b=${text}`] } }),
  'a location that is written by hand': (text) => reply('x', { headers: { location: text } }),
  'a redirect': (text) => redirect(`/${text}`, 303),
  'a redirect to another site': (text) => redirect(`https://a.example/${text}`, { external: true }),
  'the name of a file': (text) => file(Buffer.from('x'), { name: text }),
  'the type of a file': (text) => file(Buffer.from('x'), { type: text }),
  'a header of an error': (text) => {
    throw new HttpError(409, 'no', { headers: { 'x-name': text } })
  },
  'the name of a header of an error': (text) => {
    throw new HttpError(409, 'no', { headers: { [text]: 'x' } })
  },
  'the text of an error': (text) => {
    throw new HttpError(409, text)
  },
}

@Controller()
class Headers {
  // The text as JSON within JSON: bodies have no NUL and no half of a surrogate pair.
  @Post('/', { produces: '*/*', responses: { 303: 'Elsewhere' } }) post(@Body({ type: 'any' }) body: unknown) {
    const [place, text] = JSON.parse(String(body)) as [string, string]
    return places[place]?.(text)
  }
}

const KNOWN = [
  'x-request-id',
  'x-name',
  'set-cookie',
  'location',
  'content-type',
  'content-length',
  'content-disposition',
  'x-content-type-options',
  'date',
  'connection',
]

function exchange(t: TestContext, url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  return new Promise((resolve, reject) => {
    let answer = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk))
    socket.on('error', reject).on('close', () => resolve(answer))
    socket.write(bytes, 'latin1')
  })
}

function post(place: string, text: string, more = ''): string {
  const body = JSON.stringify(JSON.stringify([place, text]).replaceAll(/[^\x20-\x7e]/g, escaped))
  const head = `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n${more}`
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function assertWhole(answer: string): void {
  const [head = ''] = answer.split('\r\n\r\n')
  const [status = '', ...lines] = head.split('\r\n')
  assert.match(status, /^HTTP\/1\.1 (?:201|303|400|409|500) [\w' -]+$/)
  for (const line of lines) {
    assert.match(line, /^[\w-]+: [^\r\n\0]*$/)
    assert.ok(KNOWN.includes(line.slice(0, line.indexOf(':')).toLowerCase()), line)
  }
}

/** The last ones are those of which the lower byte is a line break. */
const BREAKS = ['\r\n', '\n', '\r', '\0', '\u2028', '\u0085', '\u010d\u010a', '\u560d\u560a']

for (const place of Object.keys(places)) {
  test(`a line break in ${place} begins no other header`, async (t) => {
    const { url } = await api(t, [Headers])
    for (const line of BREAKS)
      for (const text of [
        `a${line}forged: 1`,
        `a${line}${line}HTTP/1.1 200 OK${line}${line}<html>`,
        `${line}forged: 1`,
      ])
        assertWhole(await exchange(t, url, post(place, text)))
  })
}

test('whatever text is in whatever header, the answer has the headers of the program alone', async (t) => {
  const { url } = await api(t, [Headers])
  const piece = fc.oneof(
    fc.constantFrom(...BREAKS, 'forged: 1', ': ', ' ', ';', '"', '%0d%0a'),
    fc.string({ unit: anyCharacter, maxLength: 4 }),
  )
  const texts = fc.array(piece, { minLength: 1, maxLength: 6 }).map((parts) => `a ${parts.join('')}`)
  const law = fc.asyncProperty(fc.constantFrom(...Object.keys(places)), texts, async (place, text) => {
    assertWhole(await exchange(t, url, post(place, text)))
  })
  await fc.assert(law, { numRuns: runs(400) })
})

for (const id of [
  'a\tb',
  'a b',
  'a\xa0b',
  'a\x85b',
  'a;b',
  '"',
  '<b>',
  'a,b',
  'x'.repeat(129),
  'a\r\nx-request-id: b',
]) {
  test(`the request id ${JSON.stringify(id).slice(0, 24)} is not sent back`, async (t) => {
    const { url } = await api(t, [Headers])
    const answer = await exchange(t, url, post('a redirect', 'x', `X-Request-Id: ${id}\r\n`))
    assertWhole(answer)
    assert.match(answer, /\r\nx-request-id: [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\r\n/)
  })
}
