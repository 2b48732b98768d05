import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterTsx, alone, beforeTsx, byOptions, inTsx, project, run } from '../support/project.js'

const heroesTest = `
import 'reflect-metadata'
import assert from 'node:assert/strict'
import { test } from 'node:test'

class Session {}
const Get: MethodDecorator = () => {}

test('a handler is given its session', () => {
  class Heroes { @Get list(session: Session) {} }
  assert.deepEqual(Reflect.getMetadata('design:paramtypes', Heroes.prototype, 'list'), [Session])
})
`

for (const mode of [alone, afterTsx, beforeTsx, inTsx, byOptions]) {
  test(`${mode.name}, the hook reaches the files of node --test`, async (t) => {
    const root = await project(t, { 'test/heroes.test.ts': heroesTest })
    const { code, stdout } = await run(root, mode, '--test', '--test-reporter=tap', 'test/heroes.test.ts')
    assert.match(stdout, /^# pass 1$/m)
    assert.equal(code, 0)
  })
}
