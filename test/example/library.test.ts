// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { environment, jsonOf, post, root, serve, serveIn, temporaryFolder } from '../support/processes.js'
import { tscCommand } from '../support/project.js'

const program = 'example/recipes/library/library.ts'
const variables = { PORT: '0', toolkit_url: 'sqlite+sqlite3:///:memory:', toolkit_sync: 'true' }

test('library.ts: models in two files that import each other, included, computed and filtered with exact totals', async () => {
  const { url, stop } = await serve([program], variables)
  const get = (path: string) => jsonOf(fetch(url + path))
  const tolkien = { name: 'Tolkien', biography: 'A professor of Old English' }
  assert.deepEqual((await jsonOf(post(`${url}/authors`, tolkien))).data.biography.text, tolkien.biography)

  const hobbit = { id: 1, title: 'The Hobbit', slug: 'the-hobbit', author: { id: 1, name: 'Tolkien' } }
  const { title } = hobbit
  const created = await jsonOf(post(`${url}/books`, { title, author_id: 1, tags: ['fantasy', 'classic'] }))
  created.data.tags.sort((a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name))
  assert.deepEqual(created.data, { ...hobbit, tags: [{ name: 'classic' }, { name: 'fantasy' }] })
  const ring = { title: 'The Lord of the Rings', author_id: 1, prequel_id: 1, tags: ['fantasy'] }
  assert.equal((await post(`${url}/books`, ring)).status, 201)
  assert.equal((await post(`${url}/books`, { ...ring, author_id: 7 })).status, 409)

  const first = await get('/books?limit=1')
  assert.deepEqual([first.data, first.meta.total_items], [[created.data], 2])

  const { data, meta } = await get('/books/tagged?tag=fantasy&limit=1')
  assert.deepEqual([data.length, data[0].tags, meta.total_items], [1, [{ id: 1, name: 'fantasy' }], 2])
  const classics = await get('/books/with-all-tags?tag=classic')
  assert.deepEqual([classics.data, classics.meta.total_items], [[created.data], 1])
  assert.deepEqual((await get("/books/with-all-tags?tag=o'")).data, [])

  const sequel = (await get('/books/2')).data
  assert.deepEqual([sequel.prequel.title, sequel.sequels], ['The Hobbit', []])
  assert.deepEqual(sequel.author.biography, { author_id: 1, text: tolkien.biography })
  assert.equal((await get('/books/1')).data.sequels[0].title, ring.title)
  assert.deepEqual((await get('/authors')).data, [{ id: 1, name: 'Tolkien', book_count: 2 }])
  assert.equal(await stop(), 0)
})

test('library.ts: the output of tsc starts, too', async () => {
  const folder = realpathSync(temporaryFolder())
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/sequitur'))
  for (const name of ['sequelize', 'sequelize-typescript'])
    symlinkSync(realpathSync(join(root, 'node_modules', name)), join(folder, 'node_modules', name))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const compilerOptions = { noEmit: false, rootDir: root, outDir: folder }
  const tsconfig = { extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files: [join(root, program)] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  execFileSync(process.execPath, [tscCommand, '-p', folder, '--typeRoots', join(root, 'node_modules/@types')])

  const hooks = ['tsx', 'sequitur/register'].map((name) => `--import=${import.meta.resolve(name)}`)
  const args = [...hooks, program.replace('.ts', '.js')]
  const { url, stop } = await serveIn(folder, args, environment(variables))
  assert.equal((await jsonOf(fetch(`${url}/books`))).meta.total_items, 0)
  assert.equal(await stop(), 0)
})
