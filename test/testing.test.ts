import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { Controller, Get } from 'sequitur'
import { testApp } from 'sequitur/testing'

@Controller('/')
class Failing {
  @Get() get() {
    throw new Error('the reason')
  }
}

test('the app of a test logs the reason of a 500, and nothing else', async (t) => {
  const [error, info, warn] = (['error', 'info', 'warn'] as const).map((name) => mock.method(console, name, () => {}))
  t.after(() => mock.restoreAll())
  const api = await testApp({ controllers: [Failing] })
  assert.equal((await api.fetch('/')).status, 500)
  await api.close()
  assert.match(String(error?.mock.calls.map((call) => call.arguments.map(String)).join()), /the reason/)
  assert.deepEqual([info?.mock.callCount(), warn?.mock.callCount()], [0, 0])

  const silent = await testApp({ controllers: [Failing], logger: false })
  const before = error?.mock.callCount()
  assert.equal((await silent.fetch('/')).status, 500)
  await silent.close()
  assert.equal(error?.mock.callCount(), before)
})
