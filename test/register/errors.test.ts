import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterTsx, alone, beforeTsx, orders, printed, project, run, type Mode } from '../support/project.js'

const decorated = `
const Get: MethodDecorator = () => {}
class Heroes { @Get list(limit: number) {} }
console.log('ran')`

for (const mode of orders) {
  test(`${mode.name}, a syntax error is shown with its file, its line and its code`, async (t) => {
    const root = await project(t, { 'app.ts': 'class Heroes {\n  @Get list(limit: number {}\n}' })
    const { code, stderr } = await run(root, mode, 'app.ts')
    assert.match(stderr, /SyntaxError.*: Expected `,` or `\)`[^]*app\.ts:2:27[^]*@Get list\(limit: number \{\}/)
    assert.equal(code, 1)
  })
}

const commonJs: { what: string; mode: Mode; file: string; packageJson: string }[] = [
  { what: 'in a package of type commonjs', mode: afterTsx, file: 'app.ts', packageJson: '{ "type": "commonjs" }' },
  { what: 'in a package of type commonjs', mode: beforeTsx, file: 'app.ts', packageJson: '{ "type": "commonjs" }' },
  { what: 'in a package without a type', mode: afterTsx, file: 'app.ts', packageJson: '{}' },
  { what: 'in a package without a type', mode: beforeTsx, file: 'app.ts', packageJson: '{}' },
  { what: 'named .cts', mode: alone, file: 'app.cts', packageJson: '{ "type": "module" }' },
  { what: 'named .cts', mode: afterTsx, file: 'app.cts', packageJson: '{ "type": "module" }' },
]

for (const { what, mode, file, packageJson } of commonJs) {
  test(`${mode.name}, a decorated file ${what} is refused`, async (t) => {
    const files = { 'package.json': packageJson, 'main.mjs': `import './${file}'`, [file]: decorated }
    const { code, stdout, stderr } = await run(await project(t, files), mode, 'main.mjs')
    assert.match(stderr, new RegExp(`${file} has decorators, but .* CommonJS.* Write "type": "module" .* app\\.mts`))
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
  })
}

test('without tsx, a decorated file in a package without a type is a module', async (t) => {
  assert.equal(await printed(await project(t, { 'package.json': '{}', 'app.ts': decorated }), alone, 'app.ts'), 'ran')
})

for (const [what, field, message] of [
  [
    'static',
    'static size = 1',
    /app\.ts has a decorated field with an initial value that is static, Hero\.size: its decorator would be lost\. Set the value in a static block\./,
  ],
  [
    'named by a string',
    `'first-name' = ''`,
    /app\.ts has a decorated field with an initial value whose name is quoted, Hero\["first-name"\]: its decorator would be lost\. Set the value in the constructor\./,
  ],
  [
    'computed',
    `[['name'][0]!]: string = ''`,
    /app\.ts has a decorated field in Hero whose name is computed: its decorator would be lost\. Write the name without brackets\./,
  ],
  [
    'static and computed',
    `static [['name'][0]!]: string`,
    /app\.ts has a decorated field in Hero whose name is computed: its decorator would be lost\. Write the name without brackets\./,
  ],
] as const) {
  test(`a decorated field that is ${what} is refused, for its decorator would be lost`, async (t) => {
    const source =
      'const Column: PropertyDecorator = () => {}\n' +
      `class Team { @Column name = 'a'; @Column static count: number }\nclass Hero { @Column id = 1; @Column ${field} }`
    const { code, stderr } = await run(await project(t, { 'app.ts': source }), alone, 'app.ts')
    assert.match(stderr, message)
    assert.equal(code, 1)
  })
}

test('an interface imported without "type" into a decorated signature stops the program', async (t) => {
  const root = await project(t, {
    'app.ts': `
      import { Filter } from './filter.js'
      const Get: MethodDecorator = () => {}
      class Heroes { @Get list(filter: Filter) {} }`,
    'filter.ts': 'export interface Filter { name: string }',
  })
  const { code, stderr } = await run(root, alone, 'app.ts')
  assert.match(stderr, /filter\.js' does not provide an export named 'Filter'/)
  assert.equal(code, 1)
})

const circle = {
  'service.ts': `
    import { Heroes } from './controller.js'
    export class Service { controller = Heroes }`,
  'controller.ts': `
    import 'reflect-metadata'
    import { Service } from './service.js'
    const Get: MethodDecorator = () => {}
    export class Heroes {
      @Get list(service: Service) {}
    }`,
  'app.ts': `import './service.js'`,
}

const early = (members: string, decorator = '') => `
import 'reflect-metadata'
const Note = (..._: unknown[]): any => {}
${decorator} class Hero {
  ${members}
}
class Team {}`

const tooEarly = [
  [
    'a parameter of a method, in files that import each other',
    circle,
    /Heroes\.list has the type Service,/,
    /controller\.ts:6:/,
  ],
  [
    'a parameter of a method',
    { 'app.ts': early('@Note join(team: Team) {}') },
    /Hero\.join has the type Team,/,
    /app\.ts:5:/,
  ],
  [
    'a result',
    { 'app.ts': early('@Note team(): Team { return new Team() }') },
    /Hero\.team has the type Team,/,
    /app\.ts:5:/,
  ],
  [
    'a parameter of a constructor',
    { 'app.ts': early('constructor(team: Team) {}', '@Note') },
    /The constructor of Hero has the type Team,/,
    /app\.ts:4:/,
  ],
  [
    'a property',
    { 'app.ts': early('@Note declare team: Team') },
    /Hero\.team has the type Team,[^]*or write the type of the property as import\("\.\/file\.js"\)\.Team/,
    /app\.ts:5:/,
  ],
] as const

for (const mode of orders) {
  for (const [what, files, who, where] of tooEarly) {
    test(`${mode.name}, ${what} of a class that is not initialized yet names both, and a fix`, async (t) => {
      const { code, stderr } = await run(await project(t, files), mode, 'app.ts')
      assert.match(stderr, who)
      assert.match(
        stderr,
        /ReferenceError: .* a class that is not initialized yet when the decorators of \w+ run\. If it is declared below in the same file, move it up\. If two files import each other, move what both need into a third file/,
      )
      assert.match(stderr, where)
      assert.equal(code, 1)
    })
  }
}

test('a property whose type is import(...) evaluates nothing', async (t) => {
  const member = `@Note declare team: import('./app.js').Team`
  const root = await project(t, {
    'app.ts': `${early(member).replace('class Team', 'export class Team')}\nconsole.log('ran')`,
  })
  assert.equal(await printed(root, alone, 'app.ts'), 'ran')
})
