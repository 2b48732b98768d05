import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { jsonOf, post, root, serve, temporaryFolder } from '../support/processes.js'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const [program = '', ...others] = piecesOf(readme)

function piecesOf(text: string): string[] {
  return [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code as string)
}

test('the first program of the README is example/quickstart.ts, which the compiler checks', () => {
  assert.equal(program, readFileSync(join(root, 'example/quickstart.ts'), 'utf8'))
})

test('the first program of the README runs, and serves heroes and their documentation', async (t) => {
  const toolkit_url = `sqlite+sqlite3:///${join(temporaryFolder(), 'heroes.sqlite')}`
  const file = join(root, 'example', `.readme-${process.pid}.ts`) // beside the example: there 'sequitur' is this package
  writeFileSync(file, program.replace('listen(8000)', 'listen(0)'))
  t.after(() => import('node:fs').then(({ rmSync }) => rmSync(file)))
  const { url, stop } = await serve([file], { toolkit_url, toolkit_sync: 'true' })
  const robin = { name: 'Robin', secret_identity: 'Tim Drake', age: 17 }
  assert.deepEqual(await (await post(`${url}/heros`, robin)).json(), { data: { ...robin, id: 1 } })
  assert.equal((await post(`${url}/heros`, robin)).status, 409)
  assert.equal((await jsonOf(fetch(`${url}/heros`))).meta.total_items, 1)
  assert.equal((await fetch(`${url}/heros/2`)).status, 404)
  assert.equal((await fetch(`${url}/docs`)).status, 200)
  assert.equal((await jsonOf(fetch(`${url}/openapi.json`))).openapi, '3.1.0')
  assert.equal(await stop(), 0)
})

const documents = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
const inDocuments = documents.flatMap((name) => piecesOf(readFileSync(join(root, 'docs', name), 'utf8')))

test('every other piece of code in the README and in docs/ stands in a program of the example or of a client', () => {
  const programs = ['example', 'test/client/programs'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(root, folder, name), 'utf8')),
  )
  for (const piece of [...others, ...inDocuments])
    assert.ok(
      programs.some((text) => text.includes(piece)),
      `nowhere in example/ or test/client/:\n${piece}`,
    )
})

test('the commands of the README are those of package.json', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  for (const name of ['start', 'test', 'lint', 'types', 'build']) assert.ok(scripts[name], name)
})
