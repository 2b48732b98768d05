import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Field, mapOf, withSession } from 'sequitur'
import { InvalidJobInput, Job, JobRecord, jobsOf } from 'sequitur/jobs'
import { databaseApp, sqliteMemory } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'

class Count {
  @Field({ type: 'integer' }) n!: number
}

class Tree {
  @Field({ type: () => [Tree], optional: true }) list?: Tree[]
  @Field({ type: mapOf(Count), optional: true }) counts?: Record<string, Count>
  @Field({ type: 'any', optional: true }) any?: unknown
}

class TreeJobs {
  @Job({ name: 'tree.keep' })
  keep(input: Tree) {
    return input
  }
}

async function treeApp(t: TestContext) {
  const app = await databaseApp(t, sqliteMemory, [JobRecord], [], { jobs: [TreeJobs] })
  return {
    ...app,
    add: (input: Tree) => withSession(app.database, (session) => jobsOf(session).add(TreeJobs, 'keep', input)),
    /** As JSON. */
    kept: async () => JSON.stringify((await app.jobs.added(TreeJobs, 'keep')).map(({ input }) => input)),
  }
}

function nested(levels: number): Tree {
  let tree: Tree = {}
  for (let level = 1; level < levels; level += 2) tree = { list: [tree] }
  return tree
}

const circular: Tree = { list: [] }
circular.list?.push(circular)

test('an input of more than 100 lists and objects within each other is not added', async (t) => {
  const app = await treeApp(t)
  await app.add(nested(99))
  for (const input of [nested(101), nested(3_001), nested(100_001), circular])
    await assert.rejects(app.add(input), {
      name: 'InvalidJobInput',
      message: /: \/ has more than 100 lists and objects within each other, or contains itself\.$/,
    })
  assert.equal(await app.kept(), JSON.stringify([nested(99)]))
})

test('a stored input of more than 100 lists and objects within each other is not run', async (t) => {
  const app = await treeApp(t)
  await app.add({})
  const input = `{"any":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  await withSession(app.database, () => JobRecord.update({ input }, { where: {} }))
  const { dead } = await app.jobs.run()
  assert.match(String(dead[0]?.error), /^UnreadableJobInput: .*: \/ has more than 100 lists and objects/)
})

const CHARACTERS = ['/', '~', '\n', '\r\u0000', '\u202e', '\ud800', '\u2028', '\u{e0001}', '😀', 'a', 'é', "'"]

test('what an input has as keys is bounded and escaped in messages, or kept', async (t) => {
  const app = await treeApp(t)
  const pick = random(7)
  const kept: unknown[] = []
  for (let run = 0; run < runs(400); run++) {
    const length = pick(8) === 0 ? 10_000 : 1 + pick(5)
    const key = Array.from({ length }, () => CHARACTERS[pick(CHARACTERS.length)]).join('')
    const value = { n: [run, 1.5, 'x', NaN][pick(4)] as number }
    const input: Tree = pick(2) === 0 ? { counts: { [key]: value } } : { list: [{ any: { [key]: value.n } }] }
    const error: unknown = await app.add(input).then(
      () => undefined,
      (refused: unknown) => refused,
    )
    if (error === undefined) kept.push(input)
    else {
      assert.ok(error instanceof InvalidJobInput, String(error))
      assert.ok(error.message.length < 8_000, `${error.message.length} characters`)
      assert.doesNotMatch(error.message, /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Cf}]/u)
    }
  }
  assert.ok(kept.length > 5, `${kept.length} were added`)
  assert.equal(await app.kept(), JSON.stringify(kept))
})
