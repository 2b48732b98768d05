import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { sequiturIn } from '../support/command.js'
import { newProject, npm, start, workspace } from '../support/new-project.js'
import { jsonOf, post } from '../support/processes.js'

const own = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
const project = newProject('heroes-api')
const read = (path: string) => readFileSync(join(project, path), 'utf8')

test('sequitur new prints what it has created, and the next commands, as docs/cli.md shows them', () => {
  const { status, stdout, stderr } = sequiturIn(workspace(), {}, 'new', 'my-api')
  assert.deepEqual([status, stderr], [0, ''])
  assert.ok(page.includes(`$ npx sequitur new my-api\n${stdout}`), stdout)
})

test('the next commands are those of the package manager that has started the command', () => {
  const agent = { npm_config_user_agent: 'pnpm/11.1.2 npm/? node/v24.0.0 linux x64' }
  assert.match(sequiturIn(workspace(), agent, 'new', 'my-api').stdout, /^ {2}pnpm install$/m)
})

for (const [agent, install, lockfile] of [
  ['npm', 'npm ci', 'package*.json'],
  ['pnpm', 'pnpm install --frozen-lockfile', 'pnpm-lock.yaml'],
  ['yarn', 'yarn install --immutable', 'yarn.lock'],
] as const) {
  test(`the Dockerfile of a project that was created by ${agent} installs by ${agent}`, () => {
    const folder = workspace()
    sequiturIn(folder, { npm_config_user_agent: `${agent}/11.1.2 node/v24.0.0 linux x64` }, 'new', 'my-api')
    const text = readFileSync(join(folder, 'my-api/Dockerfile'), 'utf8')
    assert.match(text, new RegExp(`^RUN ${install}$`, 'm'))
    assert.ok(text.includes(lockfile), text)
  })
}

// The binary that sqlite3 downloads needs glibc 2.38, which Debian 12 does not have; without it, it is compiled, for which slim images have no compiler.
test('the image of a project with SQLite has the C library of Debian 13, and is built where there is a compiler', () => {
  const bases = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
  assert.deepEqual(bases, ['node:24-trixie', 'node:24-trixie-slim'])
})

test('a new project has the version of this package, and the versions with which it is tested', () => {
  const { name, type, engines, dependencies, devDependencies, allowScripts } = JSON.parse(read('package.json'))
  assert.deepEqual([name, type, engines], ['heroes-api', 'module', own.engines])
  assert.deepEqual(dependencies, {
    sequelize: own.peerDependencies.sequelize,
    'sequelize-typescript': own.peerDependencies['sequelize-typescript'],
    sequitur: `^${own.version}`,
  })
  for (const [one, version] of Object.entries(devDependencies)) assert.equal(version, own.devDependencies[one], one)
  assert.deepEqual(allowScripts, { sqlite3: true, esbuild: false })
})

test('the name of the project is everywhere where it has one, and hidden files have their names', () => {
  const files = readdirSync(project, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /^(?!node_modules)/.test(path),
  )
  const hidden = [
    '.gitignore',
    '.dockerignore',
    '.env.example',
    join('.vscode', 'launch.json'),
    join('.github', 'workflows', 'ci.yml'),
  ]
  for (const file of [...hidden, 'Dockerfile']) assert.ok(files.includes(file), file)
  assert.deepEqual(
    files.filter((path) => /\.(?:ts|md|json)$|file$|example$/.test(path) && read(path).includes('my-api')),
    [],
  )
  assert.match(read('src/app.ts'), /title: 'heroes-api'/)
})

test('npm test checks the types of a new project, also of its tests, and runs them', () => {
  const { status, stdout } = npm(project, 'test')
  assert.equal(status, 0, stdout)
  assert.match(stdout, /^(?:#|ℹ) pass 2$/m) // Node 20 and later ones report in different forms
  const wrong = join(project, 'test/wrong.test.ts')
  writeFileSync(wrong, "import { app } from '../src/app.js'\napp.lisen()\n")
  const failed = npm(project, 'test')
  writeFileSync(wrong, '')
  assert.equal(failed.status, 1)
  assert.match(failed.stdout, /wrong\.test\.ts\(2,5\): error TS2551/)
})

test('a new project migrates its SQLite file once, and runs by tsx and when it is compiled', async () => {
  assert.match(npm(project, 'migrate').stdout, /^Migrated: 0001-create-task$/m)
  assert.match(npm(project, 'migrate').stdout, /^No migration is pending\.$/m)

  const developed = await start(project, ['--import', 'tsx', '--import', 'sequitur/register', 'src/main.ts'])
  assert.equal((await post(`${developed.url}/tasks`, { title: 'Read the page' })).status, 201)
  assert.equal((await fetch(`${developed.url}/docs`)).status, 200)
  assert.equal(await developed.stop(), 0)

  const built = npm(project, 'build')
  assert.equal(built.status, 0, built.stdout)
  const compiled = await start(project, ['--enable-source-maps', 'dist/main.js'])
  const [, check] = /^HEALTHCHECK .*CMD (\[.*\])$/m.exec(readFileSync(join(project, 'Dockerfile'), 'utf8')) ?? []
  const [, ...args]: readonly string[] = JSON.parse(check ?? '')
  const health = (port: string) => promisify(execFile)(process.execPath, args, { env: { PORT: port } })
  await health(new URL(compiled.url).port)
  await assert.rejects(health('1'), { code: 1 })
  assert.deepEqual((await jsonOf(fetch(`${compiled.url}/tasks`))).data, [
    { id: 1, title: 'Read the page', done: false },
  ])
  assert.equal(await compiled.stop(), 0)
})

test('a new project reads the file .env, over which the environment takes precedence', () => {
  writeFileSync(join(project, '.env'), 'toolkit_url=sqlite+sqlite3:///./of-file.sqlite\n')
  assert.equal(npm(project, 'migrate').status, 0)
  assert.equal(npm(project, 'migrate', { toolkit_url: 'sqlite+sqlite3:///./of-environment.sqlite' }).status, 0)
  const files = readdirSync(project).filter((name) => name.endsWith('.sqlite') && name.startsWith('of-'))
  assert.deepEqual(files.toSorted(), ['of-environment.sqlite', 'of-file.sqlite'])
})

for (const name of ['../x', 'my api', 'Heroes', '.hidden', '_x', 'a/b', '@me/api', '', 'a'.repeat(215)]) {
  test(`sequitur new ${JSON.stringify(name.slice(0, 20))} is no name of a package`, () => {
    const folder = workspace()
    const { status, stdout, stderr } = sequiturIn(folder, {}, 'new', name)
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, /^'[^\n]*' cannot be the name of a package\. Write [^\n]*: sequitur new my-api\n$/)
    assert.deepEqual(readdirSync(folder), [])
  })
}

for (const name of ['node_modules', 'sequitur', 'typescript']) {
  test(`sequitur new ${name} is the name of another package`, () => {
    const { status, stderr } = sequiturIn(workspace(), {}, 'new', name)
    assert.deepEqual([status, stderr], [1, `'${name}' is the name of another package. Write another one.\n`])
  })
}

test('sequitur new uses an empty folder, and no other', () => {
  const folder = workspace()
  for (const name of ['empty', 'used']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'used/notes.md'), 'mine')
  writeFileSync(join(folder, 'file'), 'mine')
  assert.equal(sequiturIn(folder, {}, 'new', 'empty').status, 0)
  const used = sequiturIn(folder, {}, 'new', 'used')
  assert.deepEqual([used.status, used.stderr], [1, 'The folder used exists, and is not empty. Write another name.\n'])
  assert.deepEqual(readdirSync(join(folder, 'used')), ['notes.md'])
  const file = sequiturIn(folder, {}, 'new', 'file')
  assert.deepEqual([file.status, file.stderr], [1, 'file exists, and is not a folder. Write another name.\n'])
})

test('sequitur new needs a name, and one only', () => {
  const none = sequiturIn(workspace(), {}, 'new')
  assert.deepEqual([none.status, none.stderr], [1, 'Name the project: sequitur new my-api\n'])
  assert.match(sequiturIn(workspace(), {}, 'new', 'a', 'b').stderr, /^sequitur new: 'b' is one argument too many\./)
})
