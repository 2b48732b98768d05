import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterTsx, alone, inTsx, modes, orders, printed, project, run } from '../support/project.js'

const session = `export class Session {
  constructor(readonly name: string) {}
}`

const heroes = `
import 'reflect-metadata'
import { Session } from './session.js'

interface Filter {
  name: string
}

const Get: MethodDecorator = () => {}

export class Heroes {
  @Get list(session: Session, limit: number, filter: Filter): void {}

  fail(): never {
    throw new Error('no heroes')
  }
}

export function types(controller: Function, method: string): string {
  return Reflect.getMetadata('design:paramtypes', controller.prototype, method)?.map((type: Function) => type.name).join()
}
`

const app = `
import { Heroes, types } from './heroes.js'

console.log(types(Heroes, 'list'))`

for (const mode of modes) {
  test(`${mode.name}, the hook brings the types of parameters`, async (t) => {
    const root = await project(t, { 'app.ts': app, 'heroes.ts': heroes, 'session.ts': session })
    assert.equal(await printed(root, mode, 'app.ts'), 'Session,Number,Object')
  })

  test(`${mode.name}, the hook keeps the lines of a stack trace`, async (t) => {
    const fails = `import { Heroes } from './heroes.js'\n\nnew Heroes().fail()`
    const root = await project(t, { 'app.ts': fails, 'heroes.ts': heroes, 'session.ts': session })
    const { stderr } = await run(root, mode, 'app.ts')
    assert.match(stderr, /Error: no heroes\n +at Heroes\d?\.fail .*heroes\.ts:15:11\)\n.*app\.ts:3:14/)
  })
}

for (const mode of orders) {
  test(`${mode.name}, every kind of file still loads`, async (t) => {
    const root = await project(t, {
      'app.ts': `
        import heroes from './heroes.json' with { type: 'json' }
        import { Colour } from './colour.mjs'
        import { page } from './page.js'
        const again = await import('./colour.mjs?again#part')
        console.log(heroes[0], Colour[0], page, again.Colour === Colour)`,
      'heroes.json': '["Robin"]',
      'colour.mts': 'export enum Colour { Red, Green }',
      'page.tsx': `/** @jsxRuntime classic @jsx element */
        const element = (name: string, _: null, text: string): string => name + ':' + text
        export const page = <p>hello</p>`,
    })
    assert.equal(await printed(root, mode, 'app.ts'), 'Robin Red p:hello false')
  })

  test(`${mode.name}, a program without reflect-metadata runs its decorators`, async (t) => {
    const root = await project(t, {
      'app.ts': `
        const Loud: MethodDecorator = (_target, _name, method: any) => ({ ...method, value: () => 'LOUD' })
        const Named = (type: any): any => class extends type { name = 'Robin' }
        @Named class Heroes { name = ''; @Loud list(limit: number) {} }
        console.log(new Heroes().list(1), new Heroes().name)`,
    })
    assert.equal(await printed(root, mode, 'app.ts'), 'LOUD Robin')
  })

  test(`${mode.name}, a worker has the types of parameters too`, async (t) => {
    const root = await project(t, {
      'main.ts': `
        import { Worker } from 'node:worker_threads'
        new Worker(new URL('app.ts', import.meta.url))`,
      'app.ts': app,
      'heroes.ts': heroes,
      'session.ts': session,
    })
    assert.equal(await printed(root, mode, 'main.ts'), 'Session,Number,Object')
  })
}

for (const mode of [afterTsx, inTsx]) {
  test(`${mode.name}, a file that no tsconfig.json includes has legacy decorators`, async (t) => {
    const root = await project(t, {
      'tsconfig.json': '{ "compilerOptions": { "experimentalDecorators": true }, "include": ["src"] }',
      'test/app.ts': `
        const Get = (...given: unknown[]) => console.log(given.length, given[1])
        class Heroes { @Get list(limit: number) {} }`,
    })
    assert.equal(await printed(root, mode, 'test/app.ts'), '3 list')
  })
}

const defined = {
  // Only tsx reads this file: the field is defined by tsx, and assigned, through the setter, by the hook.
  'tsconfig.json': '{ "compilerOptions": { "target": "es2022", "useDefineForClassFields": true } }',
  'app.ts': `
    class Base { set name(name: string) { console.log('assigned', name) } }
    /** @see Base */
    class Hero extends Base { override name = 'Robin' }
    console.log(Object.keys(new Hero()).join())`,
}

test('an @ in a comment does not take a file away from tsx', async (t) => {
  assert.equal(await printed(await project(t, defined), afterTsx, 'app.ts'), 'name')
})

test('without tsx, fields are assigned as in the tsconfig.json of the package', async (t) => {
  assert.equal(await printed(await project(t, defined), alone, 'app.ts'), 'assigned Robin')
})

test('a decorated file in node_modules stays with tsx', async (t) => {
  const root = await project(t, {
    'app.ts': `import 'heroes'`,
    'node_modules/heroes/package.json': '{ "type": "module", "exports": "./index.ts" }',
    'node_modules/heroes/index.ts': `
      const Get = (_: unknown, context: { kind: string }) => console.log(context.kind)
      class Heroes { @Get list() {} }`,
  })
  assert.equal(await printed(root, afterTsx, 'app.ts'), 'method')
})

test('two copies of the hook register once', async (t) => {
  const root = await project(t, {
    'count.mjs': `
      import module from 'node:module'
      for (const name of ['register', 'registerHooks']) {
        const real = module[name]
        module[name] = real && ((...given) => (console.log('registered'), real(...given)))
      }`,
    'app.ts': '',
  })
  const [, hook] = alone.args
  const twice = ['./count.mjs', `${hook}?first`, `${hook}?second`].flatMap((url) => ['--import', url])
  assert.equal(await printed(root, { name: 'twice', args: twice }, 'app.ts'), 'registered')
})
