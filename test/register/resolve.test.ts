import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alone, printed, project, run } from '../support/project.js'

for (const [specifier, file] of [
  ['./hero.js', 'hero.ts'],
  ['./hero.mjs', 'hero.mts'],
  ['./hero.js', 'hero.tsx'],
  ['./hero.ts', 'hero.ts'],
  ['./hero.js?copy', 'hero.ts'],
  ['#models/hero', 'src/models/hero.ts'],
] as const) {
  test(`without tsx, '${specifier}' finds ${file}`, async (t) => {
    const root = await project(t, {
      'package.json': '{ "type": "module", "imports": { "#models/*": "./src/models/*.js" } }',
      'app.ts': `import { hero } from '${specifier}'\nconsole.log(hero)`,
      [file]: `export const hero: string = 'Robin'`,
    })
    assert.equal(await printed(root, alone, 'app.ts'), 'Robin')
  })
}

test('without tsx, a JavaScript file goes before the TypeScript one', async (t) => {
  const root = await project(t, {
    'app.ts': `import { hero } from './hero.js'\nconsole.log(hero)`,
    'hero.js': `export const hero = 'JavaScript'`,
    'hero.ts': `export const hero: string = 'TypeScript'`,
  })
  assert.equal(await printed(root, alone, 'app.ts'), 'JavaScript')
})

test('without tsx, a missing file is reported under the name that was imported', async (t) => {
  const root = await project(t, { 'app.ts': `import './nobody.js'` })
  const { code, stderr } = await run(root, alone, 'app.ts')
  assert.match(stderr, /Cannot find module '.*nobody\.js' imported from .*app\.ts/)
  assert.equal(code, 1)
})
