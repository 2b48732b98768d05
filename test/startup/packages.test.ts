// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { tscCommand } from '../support/project.js'
import { root, run, temporaryFolder } from '../support/processes.js'

/*
 * What is wrong with the installed packages stops the start.
 */

const packages = realpathSync(join(root, 'node_modules'))

/** A project in a folder, with these packages copied and all others linked. */
function project(copied: readonly string[], files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(temporaryFolder())
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync(packages))
    if (!copied.includes(name)) symlinkSync(join(packages, name), join(folder, 'node_modules', name))
  for (const name of copied) cpSync(join(packages, name), join(folder, 'node_modules', name), { recursive: true })
  for (const [name, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files }))
    writeFileSync(join(folder, name), text)
  return folder
}

const ours = JSON.stringify(join(root, 'dist/index.js'))
function copyBuild(folder: string): void {
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true })
}

const advice = (name: string) => `Install one: npm ls ${name} shows what requires each, and npm dedupe merges them.`

for (const [name, use] of [
  ['sequelize', `import { Sequelize } from 'sequelize'; export const sequelize = new Sequelize({ dialect: 'sqlite' })`],
  [
    'sequelize-typescript',
    `import { Model } from 'sequelize-typescript'; export const sequelize = 'sqlite://', M = Model`,
  ],
] as const) {
  test(`two copies of ${name} stop the start, which names their folders`, async () => {
    const folder = project([name], {
      'database.ts': use,
      'app.ts': `import { sequelize } from './database.js'
        const { newLifespan } = await import(${ours})
        await newLifespan(sequelize).start()`,
    })
    const { code, output } = await run([join(folder, 'app.ts')], {})
    const [first, ...lines] = output.trimEnd().split('\n')
    assert.equal(first, `2 copies of ${name} are loaded, and instanceof is false between them:`)
    assert.deepEqual(
      lines.slice(0, 2).toSorted(),
      [`  ${join(folder, 'node_modules', name)}`, `  ${join(packages, name)}`].toSorted(),
    )
    assert.equal(lines[2], advice(name))
    assert.equal(code, 1)
  })
}

test('two copies of this package stop the start, which names their folders', async () => {
  const folder = project([], {
    'app.ts': `import { createApp } from ${ours}
      import { Controller, Get } from './dist/index.js'
      @Controller('/') class Heroes { @Get('/') list() {} }
      createApp({ controllers: [Heroes] })`,
  })
  copyBuild(folder)
  const { code, output } = await run([join(folder, 'app.ts')], {})
  assert.ok(
    output.startsWith(
      `2 copies of sequitur are loaded, and instanceof is false between them:\n  ${join(root, 'dist/')}\n  ${join(folder, 'dist/')}\n${advice('sequitur')}`,
    ),
    output,
  )
  assert.equal(code, 1)
})

/** A project whose sqlite3 is a copy. */
const withOwnDriver = project(['sequelize', 'sequelize-typescript', 'sqlite3'], {
  'app.ts': `import { newLifespan } from './dist/index.js'
    await newLifespan('sqlite://').start()`,
})
copyBuild(withOwnDriver)

for (const [what, library, message, manager] of [
  [
    'without its compiled part',
    undefined,
    'The driver sqlite3 is installed without its compiled part: npm did not run its install script. Run: npm pkg set allowScripts.sqlite3=true --json && npm rebuild sqlite3',
    'npm',
  ],
  [
    'without its compiled part, in a project of pnpm,',
    undefined,
    'The driver sqlite3 is installed without its compiled part: pnpm did not run its install script. Write allowBuilds: { sqlite3: true } to pnpm-workspace.yaml (onlyBuiltDependencies: [sqlite3] before pnpm 10.26), and run: pnpm rebuild sqlite3',
    'pnpm',
  ],
  [
    'without its compiled part, in a project of yarn,',
    undefined,
    'The driver sqlite3 is installed without its compiled part: yarn did not run its install script. Write "dependenciesMeta": { "sqlite3": { "built": true } } to package.json, and run: yarn rebuild sqlite3',
    'yarn',
  ],
  [
    'that was compiled for another system',
    'not a library',
    /^The driver sqlite3 was compiled for another Node or another system: .*node_sqlite3\.node.* Run: npm rebuild sqlite3$/,
    'npm',
  ],
] as const) {
  test(`a driver ${what} stops the start`, async () => {
    const compiled = join(withOwnDriver, 'node_modules/sqlite3/build')
    rmSync(compiled, { recursive: true, force: true })
    if (library !== undefined) {
      mkdirSync(join(compiled, 'Release'), { recursive: true })
      writeFileSync(join(compiled, 'Release/node_sqlite3.node'), library)
    }
    const { code, output } = await run([join(withOwnDriver, 'app.ts')], { npm_config_user_agent: `${manager}/1.0.0` })
    const [first = ''] = output.split('\n')
    if (typeof message === 'string') assert.equal(first, message)
    else assert.match(first, message)
    assert.equal(code, 1)
  })
}

test('a driver that needs a newer system stops the start, and can be compiled', async () => {
  // What a system with an older C library throws.
  const library = "/lib/x86_64-linux-gnu/libm.so.6: version `GLIBC_2.38' not found (required by node_sqlite3.node)"
  const binding = join(withOwnDriver, 'node_modules/sqlite3/lib/sqlite3-binding.js')
  writeFileSync(binding, `throw new Error(${JSON.stringify(library)})`)
  const { code, output } = await run([join(withOwnDriver, 'app.ts')], { npm_config_user_agent: 'npm/1.0.0' })
  assert.equal(
    output.split('\n')[0],
    `The driver sqlite3 was built for a newer system: ${library} Compile it here: npm_config_build_from_source=true npm rebuild sqlite3`,
  )
  assert.equal(code, 1)
})

/** Two models whose files import each other, and a class below the one whose constructor has its type. */
const circular: readonly (readonly [wrong: string, files: Readonly<Record<string, string>>, message: string])[] = [
  [
    'models whose files import each other',
    {
      'src/hero.ts': `import { BelongsTo, Table } from 'sequelize-typescript'
        import { Base } from 'sequitur'
        import { Team } from './team.js'
        @Table({ tableName: 'hero' })
        export class Hero extends Base<Hero> { @BelongsTo(() => Team, 'team_id') declare team: Team }`,
      'src/team.ts': `import { HasOne, Table } from 'sequelize-typescript'
        import { Base } from 'sequitur'
        import { Hero } from './hero.js'
        @Table({ tableName: 'team' })
        export class Team extends Base<Team> { @HasOne(() => Hero, 'team_id') declare hero: Hero }`,
      'src/app.ts': `import './team.js'`,
    },
    'Hero.team has the type Team, a class that is not initialized yet when the decorators of Hero run. If it is declared below in the same file, move it up. ' +
      'If two files import each other, move what both need into a third file, or write the type of the property as import("./file.js").Team, which is not evaluated.',
  ],
  [
    'a service below the one that injects it',
    {
      'src/app.ts': `import { Injectable } from 'sequitur'
        @Injectable() export class Office { constructor(readonly post: Post) {} }
        @Injectable() export class Post {}`,
    },
    'The constructor of Office has the type Post, a class that is not initialized yet when the decorators of Office run. If it is declared below in the same file, move it up. ' +
      'If two files import each other, move what both need into a third file.',
  ],
]

const options = ['--module', 'nodenext', '--target', 'es2023', '--experimentalDecorators', '--emitDecoratorMetadata']

for (const [wrong, files, message] of circular) {
  test(`${wrong}, in the output of tsc, stop the start`, async () => {
    const folder = project([], {})
    symlinkSync(root, join(folder, 'node_modules/sequitur'))
    mkdirSync(join(folder, 'src'))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    await run(
      [
        tscCommand,
        '--ignoreConfig',
        '--noCheck',
        ...options,
        '--outDir',
        join(folder, 'dist'),
        join(folder, 'src/app.ts'),
      ],
      {},
    )
    const { code, output } = await run([join(folder, 'dist/app.js')], {})
    assert.equal(output.split('\n')[0], message)
    assert.match(output, /\n    at .*\/dist\/\w+\.js:\d+:\d+\n$/)
    assert.equal(code, 1)
  })
}
