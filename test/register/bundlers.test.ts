import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { build } from 'esbuild'
import { sequitur as esbuildPlugin } from 'sequitur/esbuild'
import { sequitur as vitePlugin } from 'sequitur/vite'
import { afterTsx, project, run } from '../support/project.js'

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

async function bundle(root: string) {
  await build({
    entryPoints: [join(root, 'hero.ts')],
    outfile: join(root, 'hero.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    plugins: [esbuildPlugin()],
  })
}

test('the plugin for esbuild emits the types of parameters, and keeps the names of classes', async (t) => {
  const { root } = await heroFile(t)
  await bundle(root)
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

/** Bundles and runs a program that imports the package. */
async function ranBundle(t: TestContext, text: string) {
  const root = await project(t, { 'hero.ts': text })
  await symlink(process.cwd(), join(root, 'node_modules/sequitur'))
  await bundle(root)
  const args = ['--conditions=sequitur-source', ...afterTsx.args]
  return run(root, { name: 'with the package', args }, 'hero.mjs')
}

test("esbuild removes the '?' of a parameter: it is optional only if its decorator says so", async (t) => {
  const { stdout, stderr } = await ranBundle(
    t,
    `
    import { Controller, Get, Query } from 'sequitur'
    import { testApp } from 'sequitur/testing'
    @Controller('/heroes')
    class HeroController {
      @Get('/') list(@Query({ optional: true }) age?: number) { return { age: age ?? 'any' } }
      @Get('/by-age') byAge(age?: number) { return { age } }
    }
    const api = await testApp({ controllers: [HeroController] })
    for (const path of ['/heroes/', '/heroes/?age=3', '/heroes/by-age']) {
      const response = await api.fetch(path)
      console.log(response.status, response.ok ? await response.text() : '')
    }
    await api.close()`,
  )
  assert.equal(stdout, '200 {"age":"any"}\n200 {"age":3}\n422 \n', stderr)
})

test("in a bundle, too, a field with a '?' and without optional: true fails at startup", async (t) => {
  const { stderr } = await ranBundle(
    t,
    `
    import { Controller, createApp, Field, Post } from 'sequitur'
    class Hero { @Field() team?: string }
    @Controller('/heroes')
    class HeroController { @Post('/') add(hero: Hero) { return { team: hero.team } } }
    createApp({ controllers: [HeroController] })`,
  )
  assert.match(stderr, /Hero\.team: its '\?' does not exist at run time/)
})
