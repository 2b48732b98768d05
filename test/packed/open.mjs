// Starts an app on the database of the first argument, and ends.
import assert from 'node:assert/strict'
import { newLifespan } from 'sequitur'
import { testApp } from 'sequitur/testing'

const api = await testApp({ controllers: [], lifespan: newLifespan(process.argv[2]) })
assert.equal((await api.fetch('/openapi.json')).status, 200)
await api.close()
