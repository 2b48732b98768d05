// All doors of the package share one instance of each class, also where dist is bundled.
import assert from 'node:assert/strict'
import { App, newLifespan } from 'sequitur'
import { newPagination } from 'sequitur/cursor'
import { memoryDatabase, testApp } from 'sequitur/testing'

const api = await testApp({ controllers: [], lifespan: memoryDatabase() })
assert.ok(api.app instanceof App)
await api.close()

assert.equal(memoryDatabase().constructor, newLifespan('sqlite://').constructor)

const wrong = /** @type {any} */ ({ wrong: 1 })
const [first, second] = [() => newPagination(wrong), () => newLifespan('sqlite://', wrong)].map(errorClass)
assert.equal(first, second)
assert.equal(first.name, 'BootError')

function errorClass(/** @type {() => unknown} */ make) {
  try {
    make()
  } catch (error) {
    return Object(error).constructor
  }
  return undefined
}
