import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sequiturIn } from '../support/command.js'
import { temporaryFolder } from '../support/processes.js'
import { until } from '../support/waiting.js'
import { pack } from '../../scripts/pack.js'

/*
 * The image of a new project, built and run by a Docker engine. Nothing is pulled: the images it begins with must be there.
 */

const docker = (...args: readonly string[]) =>
  execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
const IMAGES = ['node:24-slim', 'postgres:18']
const name = `sequitur-test-${process.pid}`
const skip = missing()

function missing(): string | false {
  const { status } = spawnSync('docker', ['image', 'inspect', ...IMAGES], { stdio: 'ignore' })
  if (status === 0) return false
  const reason = `docker.test.ts is skipped: it needs a Docker engine with the images ${IMAGES.join(' and ')}`
  console.log(reason)
  return reason
}

/** Builds the image of a project with this package, which is packed beside its package.json. */
function build(folder: string): void {
  sequiturIn(folder, { npm_config_user_agent: 'npm/11' }, 'new', 'my-api', '--database', 'postgres')
  const project = join(folder, 'my-api')
  const { tarball } = pack(folder)
  writeFileSync(join(project, 'sequitur.tgz'), readFileSync(tarball))
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(join(project, path), change(readFileSync(join(project, path), 'utf8')))
  edit('package.json', (text) => text.replace(/("sequitur": )"[^"]+"/, '$1"file:sequitur.tgz"'))
  edit('Dockerfile', (text) => text.replace('COPY package*.json ./', 'COPY package*.json sequitur.tgz ./'))
  execFileSync('npm', ['install', '--package-lock-only'], { cwd: project, stdio: 'pipe' })
  docker('build', '--pull=false', '--tag', name, project)
}

/** The options of a container of the image, with a URL of its database. */
const withDatabase = (host: string) => [
  '--network',
  name,
  '--env',
  `toolkit_url=postgres+pg://postgres:x@${host}/my-api`,
]

test('the image of a new project migrates, serves, is healthy, and ends when Docker stops it', { skip }, async () => {
  const [database, app] = [`${name}-database`, `${name}-app`]
  after(() => {
    spawnSync('docker', ['rm', '--force', '--volumes', app, database], { stdio: 'ignore' })
    spawnSync('docker', ['network', 'rm', name], { stdio: 'ignore' })
    spawnSync('docker', ['image', 'rm', name], { stdio: 'ignore' })
  })
  build(temporaryFolder())
  docker('network', 'create', name)
  const secrets = ['--env', 'POSTGRES_PASSWORD=x', '--env', 'POSTGRES_DB=my-api']
  docker('run', '--detach', '--name', database, '--network', name, ...secrets, 'postgres:18')

  assert.match(docker('run', '--rm', ...withDatabase(database), name, 'node', 'dist/migrate.js'), /^Migrated: 0001/m)

  const port = ['--publish', '127.0.0.1::8000', '--health-interval', '1s']
  docker('run', '--detach', '--name', app, ...port, ...withDatabase(database), name)
  const state = (field: string) => docker('inspect', '--format', `{{.State.${field}}}`, app)
  await until('the container is healthy', () => state('Health.Status') === 'healthy', 200)
  const url = `http://${docker('port', app, '8000').split('\n')[0]}/tasks`
  const headers = { 'content-type': 'application/json' }
  assert.equal((await fetch(url, { method: 'POST', body: '{"title":"Read"}', headers })).status, 201)
  assert.equal(docker('exec', app, 'id', '-un'), 'node')
  assert.throws(() => docker('exec', app, 'ls', 'node_modules/typescript'), 'a package of the development')
  docker('stop', app)
  assert.equal(state('ExitCode'), '0')
  docker('rm', app)

  // The first process of a container ignores signals that it does not handle.
  docker('run', '--detach', '--name', app, ...withDatabase('nowhere.invalid'), name)
  const written = () => spawnSync('docker', ['logs', app], { encoding: 'utf8' })
  await until('the app waits for its database', () => /Trying again/.test(written().stdout + written().stderr), 200)
  docker('stop', '--time', '5', app)
  assert.equal(state('ExitCode'), '0')
})
