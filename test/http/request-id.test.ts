import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Controller, createApp, Get } from 'sequitur'

@Controller('/')
class Hello {
  @Get() hello() {
    return 'hello'
  }
}

async function idsOf(t: TestContext, count: number, sent?: string): Promise<string[]> {
  const app = createApp({ controllers: [Hello], logger: false })
  t.after(() => app.close())
  const { url } = await app.listen(0)
  const ids: string[] = []
  const headers = sent === undefined ? {} : { 'x-request-id': sent }
  for (let n = 0; n < count; n++) {
    const response = await fetch(url, { headers })
    await response.arrayBuffer()
    ids.push(response.headers.get('x-request-id') ?? '')
  }
  return ids
}

test('requests get random UUIDs of version 4', async (t) => {
  const ids = await idsOf(t, 600)
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  // Of 600 random digits, each of 16 is missing with a probability of 16 * (15/16) ** 600 = 2e-16; in any of 30 places, 5e-15.
  for (let place = 0; place < 36; place++) {
    const digits = new Set(ids.map((id) => id[place]))
    const expected = [8, 13, 18, 23].includes(place) ? 1 : place === 14 ? 1 : place === 19 ? 4 : 16
    assert.equal(digits.size, expected, `place ${place}`)
  }
})

test('an id that the client sends is kept, unless it could be read as more than an id', async (t) => {
  assert.deepEqual(await idsOf(t, 1, 'a.b:c-1'), ['a.b:c-1'])
  for (const sent of ['a b', '"a"', 'a'.repeat(129)]) assert.match(String(await idsOf(t, 1, sent)), /^[\da-f-]{36}$/)
})
