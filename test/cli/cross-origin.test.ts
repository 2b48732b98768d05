// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sequiturIn } from '../support/command.js'
import { root } from '../support/processes.js'

for (const [exposed, missing] of [
  [undefined, undefined],
  [[], ['ETag', 'Retry-After']],
  [['Retry-After'], ['ETag']],
  [['etag', 'retry-after', 'link'], undefined],
  [['*'], undefined],
] as const) {
  const what = exposed ? `cors() that exposes [${exposed.join(', ')}]` : 'an app without cors()'
  test(`sequitur doctor says of ${what} what is missing: ${missing?.join(', ') ?? 'nothing'}`, () => {
    const variables = exposed ? { EXPOSED: JSON.stringify(exposed) } : {}
    const { status, stdout } = sequiturIn(root, variables, 'doctor', 'test/support/programs/cross-origin.ts')
    const hint =
      missing &&
      `hint     cors(): programs in browsers cannot read ${missing.join(', ')} from another origin. ` +
        `Write: cors({ exposedHeaders: [${missing.map((name) => `'${name}'`).join(', ')}] })`
    assert.equal(stdout.match(/^hint.*$/m)?.[0], hint, stdout)
    assert.equal(status, 0)
  })
}

for (const module of ['example/recipes/production.ts', 'example/conduit/main.ts']) {
  test(`${module} exposes what its responses have`, () => {
    assert.doesNotMatch(sequiturIn(root, {}, 'doctor', module).stdout, /^hint +cors/m)
  })
}
