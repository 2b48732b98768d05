import assert from 'node:assert/strict'
import { testApp } from 'sequitur/testing'
import { options } from './app.js'

const api = await testApp(options)
assert.equal(await (await api.fetch('/heroes/3?short=true')).text(), '{"id":3,"short":true,"age":"any","year":2026}')
assert.equal((await api.fetch('/heroes/', { method: 'POST', json: { name: 'Robin' } })).status, 422)
const { components }: any = await (await api.fetch('/openapi.json')).json()
assert.ok(components.schemas.Hero, 'a schema has the name of its class')
await api.close()
