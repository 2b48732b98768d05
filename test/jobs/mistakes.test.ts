import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp, Field } from 'sequitur'
import { Job, JobRecord } from 'sequitur/jobs'
import { memoryDatabase } from 'sequitur/testing'

/*
 * Mistakes in the classes of jobs: the start refuses them, and says what to write instead.
 */

class Charge {
  @Field() account!: string
}

class LimitWithoutInput {
  @Job({ name: 'mistake', limit: { by: (input: Charge | undefined) => input?.account ?? '', at: 1 } })
  run() {}
}

const mistakes: readonly (readonly [name: string, type: new () => object, message: RegExp])[] = [
  [
    'a limit takes an input, and the method has none',
    LimitWithoutInput,
    /^LimitWithoutInput\.run: `by` of its limit takes an input, and the method has none\. Give it one as its first parameter, or count all of its jobs: by: \(\) => 'all'\.$/,
  ],
]

for (const [name, type, message] of mistakes)
  test(`does not start: ${name}`, () => {
    assert.throws(() => createApp({ controllers: [], jobs: [type], models: [JobRecord], lifespan: memoryDatabase() }), {
      name: 'BootError',
      message,
    })
  })
