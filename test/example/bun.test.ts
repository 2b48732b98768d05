// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { findBun } from '../support/bun.js'
import { databases } from '../support/databases.js'
import { environment, jsonOf, post, root, type Served, serveIn } from '../support/processes.js'
import { until } from '../support/waiting.js'

const bun = findBun()
const skip = bun === undefined && 'there is no program of Bun'
const robin = { name: 'Robin', secret_identity: 'Tim Drake', age: 17 }

function serve(program: string, variables: Readonly<Record<string, string>>): Promise<Served> {
  return serveIn(root, [program], environment({ PORT: '0', ...variables }), undefined, bun)
}

for (const { name, url: newUrl } of databases.filter((database) => database.name !== 'SQLite in memory'))
  test(`on Bun, the example on ${name} lists, reads, inserts and validates heroes`, { skip }, async () => {
    const { url, stop } = await serve('example/main.ts', { toolkit_url: await newUrl() })
    assert.deepEqual((await jsonOf(fetch(`${url}/heros?offset=10`))).meta, {
      offset: 10,
      total_items: 12,
      total_pages: 2,
      page_number: 2,
    })
    const created = await post(`${url}/heros`, { ...robin, age: 18 })
    assert.equal(created.status, 201)
    const { data } = await jsonOf(created)
    assert.deepEqual(data, { ...robin, age: 18, id: 13 })
    assert.deepEqual(await jsonOf(fetch(`${url}/heros/${data.id}`)), { data })
    const again = await post(`${url}/heros`, robin)
    assert.deepEqual([again.status, (await jsonOf(again)).detail], [409, 'Duplicate hero name'])
    assert.equal((await post(`${url}/heros`, { name: 1 })).status, 422)
    assert.equal((await jsonOf(fetch(`${url}/heros`))).meta.total_items, 13)
    const docs = await fetch(`${url}/docs`)
    assert.deepEqual([docs.status, docs.headers.get('content-type')], [200, 'text/html; charset=utf-8'])
    assert.ok((await jsonOf(fetch(`${url}/openapi.json`))).components.schemas.HeroModel)
    assert.equal(await stop(), 0)
  })

for (const { name, url: newUrl } of databases.filter((database) => database.name !== 'SQLite in memory'))
  test(
    `on Bun, an app on ${name} takes files, sends streams and ranges, rolls back, and drains`,
    { skip },
    async (t) => {
      const { url, output, stop } = await serve('test/support/programs/on-bun.ts', {
        toolkit_url: await newUrl(),
      })
      assert.equal((await post(`${url}/heros`, robin)).status, 201)

      const form = new FormData()
      form.set('title', 'A photo')
      form.set('photo', new File([Buffer.alloc(300_000)], 'photo.png', { type: 'image/png' }))
      const uploaded = await fetch(`${url}/attachments`, { method: 'POST', body: form })
      assert.deepEqual(await jsonOf(uploaded), { title: 'A photo', bytes: 300_000 })

      const rows = await fetch(`${url}/exports/heroes`, { headers: { accept: 'application/x-ndjson' } })
      assert.equal(await rows.text(), '{"id":1,"name":"Robin","age":17}\n')
      assert.equal(await (await fetch(`${url}/files/heroes`)).text(), 'Robin,17\n')
      const range = await fetch(`${url}/files/stories/Robin`, { headers: { range: 'bytes=0-4' } })
      assert.deepEqual([range.status, (await range.text()).length], [206, 5])

      const client = connect(Number(new URL(url).port), '127.0.0.1')
      t.after(() => client.destroy())
      client.write('POST /program/left HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
      await until('the hero is written', () => output().includes('written'))
      client.destroy()
      await until('the hero of a client that has left is rolled back', async () => {
        const { status } = await post(`${url}/heros`, { ...robin, name: 'Left' })
        return status === 201
      })

      const slow = fetch(`${url}/program/slow?ms=500`)
      await until('the slow request runs', () => output().includes('slow'))
      const ended = stop()
      assert.equal(await jsonOf(slow), 'finished')
      assert.equal(await ended, 0)
    },
  )
