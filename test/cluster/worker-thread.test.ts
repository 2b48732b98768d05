import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databases, sqliteMemory } from '../support/databases.js'
import { serve } from '../support/processes.js'

for (const kind of databases.filter((one) => one !== sqliteMemory))
  test(`${kind.name}: an app in a worker thread closes and ends without harm to that of the main thread`, async () => {
    const main = await serve(['test/support/programs/worker-app.ts'], { DATABASE: await kind.url() })
    const ask = (path: string) => fetch(main.url + path, { method: 'POST' })
    const { url } = (await (await ask('/worker/start')).json()) as { url: string }
    const saved: string[] = []
    const load = { isEnding: false }
    let count = 0
    const post = async (to: string): Promise<number | undefined> => {
      const name = `note-${++count}`
      const response = await fetch(`${to}/notes/${name}`, { method: 'POST' }).catch(() => undefined)
      if (response?.ok) saved.push(name)
      return response?.status
    }
    const client = async (to: string) => {
      const statuses = new Set<number | undefined>()
      while (!load.isEnding) statuses.add(await post(to))
      return statuses
    }
    const clients = [main.url, main.url, url, url].map(client)
    while ((await post(url)) !== 204);
    assert.equal((await ask('/worker/close')).status, 204)
    assert.equal((await ask('/worker/terminate')).status, 204)
    assert.equal(await post(main.url), 204)
    load.isEnding = true
    const [first, second, ...ofWorker] = await Promise.all(clients)
    assert.deepEqual([first, second], [new Set([204]), new Set([204])])
    for (const statuses of ofWorker) assert.ok(statuses.has(undefined)) // refused after the end
    const { names } = (await (await fetch(`${main.url}/notes`)).json()) as { names: string[] }
    assert.deepEqual(
      saved.filter((name) => !names.includes(name)),
      [],
    )
    assert.equal(await main.stop(), 0)
    assert.equal(main.output().split('\n').filter(Boolean).length, 1, main.output())
  })
