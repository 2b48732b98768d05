// All doors of the package share one instance of each class, also where dist is bundled.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { App, newLifespan } from 'sequitur'
import { BootError } from 'sequitur/errors'
import { newIfMatch } from 'sequitur/conditional'
import { newPagination } from 'sequitur/cursor'
import { sequitur as esbuildPlugin } from 'sequitur/esbuild'
import { Idempotent } from 'sequitur/idempotency'
import { Rows } from 'sequitur/exports'
import { listOf } from 'sequitur/lists'
import { metrics } from 'sequitur/metrics'
import { steps } from 'sequitur/migrations'
import { openTelemetry } from 'sequitur/opentelemetry'
import { settings } from 'sequitur/settings'
import { tenancy } from 'sequitur/tenancy'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { Multipart } from 'sequitur/uploads'
import { sequitur as vitePlugin } from 'sequitur/vite'

const api = await testApp({ controllers: [], lifespan: memoryDatabase() })
assert.ok(api.app instanceof App)
await api.close()

assert.equal(memoryDatabase().constructor, newLifespan('sqlite://').constructor)

const wrong = /** @type {any} */ ({ wrong: 1 })
const refused = [
  () => newLifespan('sqlite://', wrong),
  () => newPagination(wrong),
  () => newIfMatch(wrong),
  () => Idempotent(wrong),
  () => tenancy(wrong),
  () => listOf(wrong, {}),
  () => Rows.of(wrong, wrong),
  () => settings(wrong),
  () => steps(wrong, []),
  () => Multipart(wrong)({}, 'create', 0),
  () => openTelemetry(wrong),
  () => metrics(wrong),
]
for (const call of refused) assert.equal(errorClass(call), BootError)

const { code = '' } = vitePlugin().transform('@decorate class Hero {}', '/app/hero.ts') ?? {}
const [, runtime = ''] = / from "([^"]+)"/.exec(code) ?? []
assert.ok(existsSync(runtime), 'the functions that compiled files import are in the package')
assert.equal(esbuildPlugin().name, vitePlugin().name)

function errorClass(/** @type {() => unknown} */ make) {
  try {
    make()
  } catch (error) {
    return Object(error).constructor
  }
  return undefined
}
