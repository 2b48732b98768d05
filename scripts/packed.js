// Uses the package as its users get it: packed, installed into an empty project, there run through tsx and compiled.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, startPostgres } from '../test/support/postgres-server.js'
import { pack } from './pack.js'

const root = fileURLToPath(new URL('../', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const published =
  /^((?:dist|assets|docs|example|template)\/.+|bench\/(?:comparison|pages|growth\/[\w-]+)\.svg|(?:README|CHANGELOG|CONTRIBUTING|SECURITY)\.md|LICENSE|llms\.txt|(?:tsconfig\.base|package)\.json)$/

const directory = mkdtempSync(join(tmpdir(), 'sequitur-packed-'))
try {
  const project = join(directory, 'project')
  const tarball = packAndCheck()
  createProject(project)
  install(project, tarball)
  checkManifest(project)
  await answers(project, ['--import', 'tsx', '--import', 'sequitur/register', 'src/app.ts'])
  execute(process.execPath, [join('node_modules', 'typescript', 'bin', 'tsc')], project)
  await answers(project, ['dist/app.js'])
  execute(process.execPath, ['doors.mjs'], project)
  documents(project)
  await createsProjects(project)
  await runsWithoutSqlite(join(directory, 'postgres-only'), tarball)
  console.log('The package works.')
} finally {
  rmSync(directory, { recursive: true, force: true })
}

/** @returns {string} the path of the tarball */
function packAndCheck() {
  const { tarball, files } = pack(directory)
  checkFiles(files)
  return tarball
}

function checkFiles(/** @type {string[]} */ paths) {
  const surplus = paths.filter((path) => !published.test(path))
  if (surplus.length) throw new Error(`These files must not be in the package; see "files" of package.json: ${surplus}`)
  const missing = promised().filter((path) => !paths.includes(path))
  if (missing.length) throw new Error(`These files are missing in the package: ${missing}`)
  console.log(`${paths.length} files, none too many and none missing`)
}

/** What package.json points at, and what the compiled code reads. @returns {string[]} */
function promised() {
  const targets = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [target] : [target.types, target.default],
  )
  return [
    ...targets.map((target) => target.replace('./', '')),
    'assets/swagger-ui/swagger-ui-bundle.js',
    'LICENSE',
    'llms.txt',
    'template/base/dot.gitignore',
  ]
}

function createProject(/** @type {string} */ project) {
  mkdirSync(join(project, 'src'), { recursive: true })
  copyFileSync(join(root, 'test/packed/app.ts'), join(project, 'src/app.ts'))
  copyFileSync(join(root, 'test/packed/doors.mjs'), join(project, 'doors.mjs'))
  copyFileSync(join(root, 'test/packed/tsconfig.json'), join(project, 'tsconfig.json'))
  const own = { name: 'app', private: true, type: 'module', allowScripts: { sqlite3: true, esbuild: false } }
  writeFileSync(join(project, 'package.json'), JSON.stringify(own, undefined, 2))
}

/** Whoever installs the package runs none of its scripts. */
function checkManifest(/** @type {string} */ project) {
  const installed = JSON.parse(readFileSync(join(project, 'node_modules/sequitur/package.json'), 'utf8'))
  for (const field of ['scripts', 'workspaces', 'allowScripts'])
    if (installed[field]) throw new Error(`The package must not have "${field}": ${JSON.stringify(installed[field])}`)
}

function install(/** @type {string} */ project, /** @type {string} */ tarball) {
  const names = ['sequelize', 'sequelize-typescript', 'typescript', 'tsx', '@types/node']
  const beside = names.map((name) => `${name}@${manifest.devDependencies[name]}`)
  execute('npm', ['install', tarball, ...beside, '--no-audit', '--no-fund'], project)
}

/** The command prints the document of the app, which knows then that it must not listen. */
function documents(/** @type {string} */ project) {
  process.env['PORT'] = '8000' // read by the app, and not listened on
  const command = join('node_modules', 'sequitur', manifest.bin.sequitur)
  const { openapi, paths } = JSON.parse(execute(process.execPath, [command, 'openapi', 'dist/app.js'], project, 'pipe'))
  if (openapi !== '3.1.0' || !paths['/hello/{name}']) throw new Error(`sequitur openapi: ${Object.keys(paths ?? {})}`)
}

/** A new project in the folder of the first one finds the packages that are installed there. */
async function createsProjects(/** @type {string} */ project) {
  const command = join('node_modules', 'sequitur', manifest.bin.sequitur)
  execute(process.execPath, [command, 'new', 'my-api'], project)
  const created = join(project, 'my-api')
  for (const script of ['test', 'migrate', 'build']) execute('npm', ['run', script], created)
  execute(process.execPath, [join('..', command), 'doctor'], created)
  execute(process.execPath, [join('..', command), 'routes', 'dist/app.js'], created)
  await answers(created, ['dist/main.js'], '/tasks', '{"data":[]')
}

/** Without install scripts the driver of SQLite has no compiled part: only a program that opens SQLite misses it. */
async function runsWithoutSqlite(/** @type {string} */ project, /** @type {string} */ tarball) {
  mkdirSync(project)
  copyFileSync(join(root, 'test/packed/open.mjs'), join(project, 'open.mjs'))
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }))
  const beside = ['sequelize', 'sequelize-typescript'].map((name) => `${name}@${manifest.devDependencies[name]}`)
  execute('npm', ['install', tarball, ...beside, '--ignore-scripts', '--no-audit', '--no-fund'], project)
  const server = await startPostgres()
  try {
    execute(process.execPath, ['open.mjs', server.url], project)
  } finally {
    await server.stop()
  }
  const sqlite = spawnSync(process.execPath, ['open.mjs', 'sqlite:///./x.sqlite'], { cwd: project, encoding: 'utf8' })
  if (sqlite.status === 0 || !sqlite.stderr.includes('npm rebuild sqlite3'))
    throw new Error(`Without its compiled part, SQLite must fail with what to run:\n${sqlite.stderr}`)
}

/** Runs the app until it has answered, and has ended as it was told to. */
async function answers(
  /** @type {string} */ project,
  /** @type {string[]} */ program,
  path = '/hello/world',
  start = '{"hello":"world"}',
) {
  const port = await freePort()
  console.log(`\n$ PORT=${port} node ${program.join(' ')}`)
  const env = { ...process.env, PORT: String(port) }
  const app = spawn(process.execPath, program, { cwd: project, env, stdio: 'inherit' })
  const exit = once(app, 'exit')
  try {
    const found = await get(`http://127.0.0.1:${port}${path}`, app)
    if (found.status !== 200 || !found.body.startsWith(start)) throw new Error(`GET ${path}: ${show(found)}`)
    const docs = await get(`http://127.0.0.1:${port}/docs`, app)
    if (docs.status !== 200) throw new Error(`GET /docs: ${show(docs)}`)
    app.kill('SIGTERM')
    const [code, signal] = await Promise.race([exit, sleep(10_000, ['none, after 10 seconds'], { ref: false })])
    if (code !== 0) throw new Error(`After SIGTERM the app ended with ${signal ?? `the code ${code}`}, not with 0.`)
    console.log(`GET ${path} 200, GET /docs 200, SIGTERM 0`)
  } finally {
    app.kill('SIGKILL')
  }
}

/** @typedef {{ status: number, body: string }} Answer */

/**
 * @param {string} url
 * @param {import('node:child_process').ChildProcess} app
 * @returns {Promise<Answer>}
 */
async function get(url, app) {
  for (const end = Date.now() + 30_000; Date.now() < end; await sleep(100)) {
    if (app.exitCode !== null) throw new Error(`The app ended with the code ${app.exitCode} before it answered ${url}.`)
    const response = await fetch(url, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
    if (response) return { status: response.status, body: await response.text() }
  }
  throw new Error(`The app did not answer ${url} within 30 seconds.`)
}

function show(/** @type {Answer} */ { status, body }) {
  return `${status} ${body.slice(0, 500)}`
}

/**
 * @param {string} command
 * @param {string[]} parameters
 * @param {string} cwd
 * @param {'inherit' | 'pipe'} stdout
 * @returns {string} what it wrote, when piped
 */
function execute(command, parameters, cwd, stdout = 'inherit') {
  console.log(`\n$ ${[command === process.execPath ? 'node' : command, ...parameters].join(' ')}`)
  const result = spawnSync(command, parameters, { cwd, stdio: ['ignore', stdout, 'inherit'], encoding: 'utf8' })
  if (result.error) throw result.error
  if (result.status !== 0) throw new Error(`${command} ended with ${result.signal ?? `the code ${result.status}`}.`)
  return result.stdout ?? ''
}
