// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sequiturIn } from '../support/command.js'
import { newProject, npm, variables } from '../support/new-project.js'
import { root } from '../support/processes.js'
import { tscCommand } from '../support/project.js'

const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
const project = newProject('my-api')
const doctor = (others: Readonly<Record<string, string>> = {}, ...words: string[]) =>
  sequiturIn(project, others, 'doctor', ...words)

/** Changes a file of the project during a test. */
function during<T>(path: string, text: string | undefined, work: () => T): T {
  const file = join(project, path)
  const before = readFileSync(file, 'utf8')
  if (text === undefined) rmSync(file)
  else writeFileSync(file, text)
  try {
    return work()
  } finally {
    writeFileSync(file, before)
  }
}

test('sequitur doctor finds that the database has not been migrated, and creates no file', () => {
  const { status, stdout } = doctor()
  assert.equal(status, 1)
  assert.match(stdout, /^problem  database: There is no file \S+my-api\.sqlite yet\. Run your migrations, [^\n]*$/m)
  assert.match(stdout, /\n\n1 problem found\.\n$/)
  assert.equal(existsSync(join(project, 'my-api.sqlite')), false)
})

test('tables that sync creates at the start may be missing, and are not created', () => {
  const { status, stdout } = doctor({ toolkit_sync: 'true' })
  assert.equal(status, 0, stdout)
  assert.equal(existsSync(join(project, 'my-api.sqlite')), false)
  writeFileSync(join(project, 'empty.sqlite'), '')
  const empty = { toolkit_url: 'sqlite+sqlite3:///./empty.sqlite' }
  assert.equal(doctor({ ...empty, toolkit_sync: 'true' }).status, 0)
  assert.match(doctor(empty).stdout, /^ {11}table task is missing \(model Task\)\n {9}Run your migrations\. /m)
})

test('sequitur doctor finds nothing in a new project after its migrations, and prints what docs/cli.md shows', () => {
  assert.equal(npm(project, 'migrate').status, 0)
  const { status, stdout, stderr } = doctor()
  assert.deepEqual([status, stderr], [0, ''])
  assert.ok(page.includes(`$ npx sequitur doctor\n${stdout}`), stdout)
})

test('sequitur doctor finds a column that is missing, also with sync', () => {
  const model = readFileSync(join(project, 'src/task.ts'), 'utf8')
  const added = model.replace('@Column(', '@Column({ type: DataType.DATE }) declare due: Date | null\n  @Column(')
  during('src/task.ts', added, () => {
    for (const others of [{}, { toolkit_sync: 'true' }]) {
      const { status, stdout } = doctor(others)
      assert.equal(status, 1)
      assert.match(
        stdout,
        /^problem  database: The tables do not match the models:\n +column due is missing in table task/m,
      )
    }
  })
})

test('sequitur doctor hints at an index that is missing, and exits with 0', () => {
  const model = readFileSync(join(project, 'src/task.ts'), 'utf8')
  const indexed = model
    .replace(/import \{ (.*) \} from 'sequelize-typescript'/, "import { Index, $1 } from 'sequelize-typescript'")
    .replace('@Column({ type: DataType.STRING', '@Index @Column({ type: DataType.STRING')
  during('src/task.ts', indexed, () => {
    const { status, stdout } = doctor()
    assert.equal(status, 0, stdout)
    assert.match(
      stdout,
      /^ok {7}database: fits 1 model\nhint {5}database: index task_title, which Task declares, is missing in table task\. Add it in a migration: await context\.addIndex\('task', \['title'\], \{ name: 'task_title' \}\)\n\n1 hint found\.\n$/m,
    )
  })
})

test('sequitur doctor finds a database that cannot be reached', () => {
  const { status, stdout } = doctor({
    toolkit_url: 'postgres+pg://nobody@127.0.0.1:1/none',
    toolkit_start_timeout: '0.1',
  })
  assert.equal(status, 1)
  assert.match(stdout, /^problem  database: Cannot reach the database \(/m)
})

const wanted = { experimentalDecorators: true, emitDecoratorMetadata: true, useDefineForClassFields: false }

for (const [options, message] of [
  [{ ...wanted, experimentalDecorators: false }, 'experimentalDecorators is not true'],
  [{ ...wanted, emitDecoratorMetadata: undefined }, 'emitDecoratorMetadata is not true'],
  [{ ...wanted, useDefineForClassFields: undefined, target: 'es2022' }, 'useDefineForClassFields is not false'],
  [{ ...wanted, strict: false }, 'strict is false'],
] as const) {
  test(`sequitur doctor finds that ${message}`, () => {
    during('tsconfig.json', JSON.stringify({ compilerOptions: options, include: ['src'] }), () => {
      const { status, stdout } = doctor()
      assert.equal(status, 1)
      assert.deepEqual(stdout.match(/^problem .*$/gm)?.length, 1, stdout)
      assert.match(
        stdout,
        new RegExp(`^problem  tsconfig\\.json: ${message}: .* Write "extends": "sequitur/tsconfig\\.json"\\.$`, 'm'),
      )
    })
  })
}

test('targets before ES2022 need no useDefineForClassFields', () => {
  const options = { ...wanted, useDefineForClassFields: undefined, target: 'es2021' }
  const text = JSON.stringify({ compilerOptions: options, include: ['src'] })
  assert.match(during('tsconfig.json', text, () => doctor()).stdout, /^ok       tsconfig\.json: /)
})

test('sequitur doctor finds that tsconfig.json, or the compiler, is missing', () => {
  const missing = during('tsconfig.json', undefined, () => doctor())
  assert.match(missing.stdout, /^problem  tsconfig\.json: there is none in this folder\. Create it\. Write "extends"/)
  const [typescript, hidden] = [join(project, 'node_modules/typescript'), join(project, 'node_modules/hidden')]
  renameSync(typescript, hidden)
  const uncompiled = doctor()
  renameSync(hidden, typescript)
  assert.match(uncompiled.stdout, /^problem  tsconfig\.json: typescript is not installed\. Run npm install -D /)
})

test('sequitur doctor finds that the output of a compiler has no types of parameters', () => {
  for (const [emits, state] of [
    ['true', 'ok'],
    ['false', 'problem'],
  ] as const) {
    const flags = ['-p', 'tsconfig.build.json', '--emitDecoratorMetadata', emits]
    const { status } = spawnSync(process.execPath, [tscCommand, ...flags], { cwd: project, env: variables() })
    assert.equal(status, 0)
    const { stdout } = doctor({}, 'dist/app.js')
    assert.match(stdout, /^skipped  tsconfig\.json: dist\/app\.js is compiled$/m)
    assert.match(stdout, new RegExp(`^${state} +dist/app\\.js: `, 'm'))
    if (state === 'problem') assert.match(stdout, /emitDecoratorMetadata/)
  }
})

test('sequitur doctor finds a second copy of a package', () => {
  const installed = join(project, 'node_modules/sequelize-typescript')
  const original = realpathSync(installed)
  rmSync(installed)
  cpSync(original, installed, { recursive: true })
  const { status, stdout } = doctor()
  rmSync(installed, { recursive: true })
  symlinkSync(original, installed)
  assert.equal(status, 1)
  assert.match(
    stdout,
    /^problem  src\/app\.ts: 2 copies of sequelize-typescript are loaded, [^]*npm dedupe merges them\./m,
  )
})

test('sequitur doctor finds that the module fails, and names the error', () => {
  writeFileSync(join(project, 'broken.ts'), "throw new Error('no settings')\n")
  const { status, stdout } = doctor({}, 'broken.ts')
  assert.equal(status, 1)
  assert.match(stdout, /^problem  broken\.ts: Error: no settings\n {13}at /m)
  assert.match(stdout, /^skipped  database: there is no app$/m)
  assert.match(doctor({}, 'nowhere.ts').stdout, /^problem  nowhere\.ts: There is no file nowhere\.ts\. /m)
})

test('sequitur doctor looks at each database of an app', () => {
  const app = readFileSync(join(project, 'src/app.ts'), 'utf8')
  const other = "newLifespan('sqlite+sqlite3:///./other.sqlite')"
  const two = `import { newLifespan } from 'sequitur'\n${app.replace('lifespan: database', `lifespan: [database, ${other}]`)}`
  const { status, stdout } = during('src/app.ts', two, () => doctor())
  assert.equal(status, 1)
  assert.match(stdout, /^ok {7}database 1: fits 1 model\nproblem {2}database 2: There is no file \S+other\.sqlite /m)
})

test('sequitur doctor finds nothing in an app without a database', () => {
  const { status, stdout } = sequiturIn(root, { PORT: '8000' }, 'doctor', 'test/packed/app.ts')
  assert.equal(status, 0, stdout)
  assert.match(stdout, /^skipped  database: the app has none\n\nNothing found\.\n$/m)
})
