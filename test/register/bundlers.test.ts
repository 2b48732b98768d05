import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { build } from 'esbuild'
import { sequitur as esbuildPlugin } from 'sequitur/esbuild'
import { sequitur as vitePlugin } from 'sequitur/vite'
import { project, run } from '../support/project.js'

const hero = `
  import 'reflect-metadata'
  const decorate = (..._: unknown[]): void => undefined
  class Power {}
  @decorate
  export class Hero {
    static readonly first = new Hero(new Power())
    constructor(readonly power: Power) {}
  }
  console.log(Hero.name, Reflect.getMetadata('design:paramtypes', Hero)[0].name)
`

async function heroFile(t: TestContext) {
  const root = await project(t, { 'hero.ts': hero })
  return { root, file: join(root, 'hero.ts') }
}

test('the plugin for esbuild emits the types of parameters, and keeps the names of classes', async (t) => {
  const { root, file } = await heroFile(t)
  await build({
    entryPoints: [file],
    outfile: join(root, 'hero.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    plugins: [esbuildPlugin()],
  })
  const { stdout, stderr } = await run(root, { name: 'plain', args: [] }, 'hero.mjs')
  assert.equal(stdout, 'Hero Power\n', stderr)
})

test('the plugin for Vite compiles files with decorators, and leaves all others to Vite', async (t) => {
  const { file } = await heroFile(t)
  const { transform } = vitePlugin()
  for (const id of [file, `${file}?t=1700000000000`, `${file}?v=1a2b`]) {
    const { code = '', map = '{}' } = transform(hero, id) ?? {}
    assert.match(code, /"design:paramtypes"/)
    assert.deepEqual(JSON.parse(map).sources, ['hero.ts'])
  }
  const others = [`${file}?raw`, '/app/node_modules/a/hero.ts', '/app/hero.js', '\0virtual']
  for (const id of others) assert.equal(transform(hero, id), undefined, id)
  assert.equal(transform('const mail = "a@b.c"', file), undefined)
})

test('the plugin for Vite lets esbuild keep the names of classes, and says nothing of it to Rolldown', () => {
  const { config } = vitePlugin()
  assert.deepEqual(config.call({}), { esbuild: { keepNames: true } })
  assert.deepEqual(config.call({ meta: { rolldownVersion: '1.0.0' } }), {})
})

test('the functions that a bundle imports are found by a path, in the file that the hook uses', async (t) => {
  const { file } = await heroFile(t)
  const [, path = ''] = / from "([^"]+runtime\.js)"/.exec(vitePlugin().transform(hero, file)?.code ?? '') ?? []
  assert.match(readFileSync(path, 'utf8'), /export function decorate/)
})
