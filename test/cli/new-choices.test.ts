// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { openPage, skipWithoutBrowser as skip } from '../support/browser.js'
import { sequiturIn } from '../support/command.js'
import { mariadbUrl } from '../support/mariadb.js'
import { newProject, npm, start, variables, workspace } from '../support/new-project.js'
import { post, serveIn } from '../support/processes.js'
import { postgresUrl } from '../support/postgres.js'
import { tscCommand } from '../support/project.js'

const HOOKS = ['--import', 'tsx', '--import', 'sequitur/register']
const ROBIN = { name: 'Robin', password: 'bat signal' }

/** Registers, logs in, and creates a task. @returns the statuses, and that of a task without a login. */
async function useAccounts(url: string, auth: string): Promise<readonly number[]> {
  const registered = await post(`${url}/account`, ROBIN)
  const login = await post(`${url}/account/login`, ROBIN)
  const headers: Record<string, string> =
    auth === 'cookie'
      ? { cookie: login.headers.get('set-cookie')?.split(';')[0] ?? '' }
      : { authorization: `Bearer ${((await login.json()) as { token: string }).token}` }
  const create = (others: Record<string, string>) =>
    fetch(`${url}/tasks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...others },
      body: JSON.stringify({ title: 'Read the page' }),
    })
  const answers = [registered, login, await create(headers), await create({})]
  return answers.map(({ status }) => status)
}

const hasMariadb = process.env['TEST_MARIADB_URL'] !== undefined
const servers: Readonly<Record<string, () => Promise<string>>> = {
  postgres: postgresUrl,
  mysql: () => mariadbUrl('mysql+mysql2'),
}

for (const [database, auth] of [
  ['sqlite', 'cookie'],
  ['sqlite', 'bearer'],
  ['postgres', 'none'],
  ['postgres', 'cookie'],
  ['postgres', 'bearer'],
  ...(hasMariadb ? ([['mysql', 'bearer']] as const) : []),
] as const) {
  test(`a project with --database ${database} --auth ${auth} passes its tests, migrates, starts, and fits its models`, async () => {
    const project = newProject('my-api', '--database', database, '--auth', auth)
    const url = await servers[database]?.()
    const variables = url === undefined ? {} : { toolkit_url: url, test_url: url }
    const tested = npm(project, 'test', variables)
    assert.equal(tested.status, 0, tested.stdout + tested.stderr)
    assert.match(tested.stdout, /^(?:#|ℹ) fail 0$/m)

    const migrations = auth === 'none' ? '0001-create-task' : '0001-create-task, 0002-create-person'
    assert.match(npm(project, 'migrate', variables).stdout, new RegExp(`^Migrated: ${migrations}$`, 'm'))
    assert.match(sequiturIn(project, variables, 'doctor').stdout, /\n\nNothing found\.\n$/)
    assert.equal(sequiturIn(project, variables, 'migrate', 'check').status, 0)

    const served = await start(project, [...HOOKS, 'src/main.ts'], variables)
    if (auth === 'none') assert.equal((await post(`${served.url}/tasks`, { title: 'Read the page' })).status, 201)
    else assert.deepEqual(await useAccounts(served.url, auth), [201, auth === 'cookie' ? 204 : 200, 201, 401])
    assert.equal(await served.stop(), 0)
  })
}

for (const [database, port, url] of [
  ['postgres', 5432, 'postgres+pg://postgres:postgres@127.0.0.1:5432/my-api'],
  ['mysql', 3306, 'mysql+mysql2://root:root@127.0.0.1:3306/my-api'],
] as const) {
  test(`--database ${database}: without variables, the app has the database of compose.yaml, as has the CI workflow`, () => {
    const folder = workspace()
    const { stdout } = sequiturIn(folder, {}, 'new', 'my-api', '--database', database)
    const read = (path: string) => readFileSync(join(folder, 'my-api', path), 'utf8')
    assert.match(stdout, /^ {2}docker compose up --wait /m)
    assert.ok(read('src/database.ts').includes(`export const defaultUrl = '${url}'`))
    const compose = parse(read('compose.yaml')).services.database
    const ci = parse(read('.github/workflows/ci.yml')).jobs.test.services.database
    assert.deepEqual([compose.ports, ci.ports], [[`127.0.0.1:${port}:${port}`], [`${port}:${port}`]])
    assert.deepEqual([compose.image, compose.environment], [ci.image, ci.env])
    const [user, password] = [new URL(url).username, new URL(url).password]
    const { POSTGRES_PASSWORD, POSTGRES_DB, MYSQL_ROOT_PASSWORD, MYSQL_DATABASE } = compose.environment
    assert.deepEqual([POSTGRES_PASSWORD ?? MYSQL_ROOT_PASSWORD, POSTGRES_DB ?? MYSQL_DATABASE], [password, 'my-api'])
    assert.ok(read('compose.yaml').includes(user))
    const { dependencies, allowScripts } = JSON.parse(read('package.json'))
    assert.deepEqual([dependencies.mysql2 !== undefined, allowScripts.sqlite3], [database === 'mysql', false])
  })
}

for (const [agent, install, run] of [
  ['npm', 'npm ci', 'npx'],
  ['pnpm', 'npm install --global pnpm && pnpm install --frozen-lockfile', 'pnpm exec'],
  ['yarn', 'npm install --global --force @yarnpkg/cli-dist && yarn install --immutable', 'yarn exec'],
] as const) {
  test(`the CI workflow and the README of a project that was created by ${agent} use ${agent}`, () => {
    const folder = workspace()
    sequiturIn(folder, { npm_config_user_agent: `${agent}/11.1.2 node/v24.0.0 linux x64` }, 'new', 'my-api')
    const ci = parse(readFileSync(join(folder, 'my-api/.github/workflows/ci.yml'), 'utf8'))
    const commands = ci.jobs.test.steps.flatMap((step: { run?: string }) => step.run ?? [])
    const scripts = [`${agent} test`, `${agent} run build`, `${agent} run migrate`]
    const checks = [`${run} sequitur migrate check`, `${run} sequitur doctor`]
    assert.deepEqual(commands, [install, ...scripts, ...checks])
    const readme = readFileSync(join(folder, 'my-api/README.md'), 'utf8')
    assert.match(readme, new RegExp(`^${agent} install$`, 'm'))
    assert.ok(readme.includes(`\`${run} sequitur routes\``), readme)
  })
}

test('a project with --client has a page that calls the API, in a browser', { skip }, async (t) => {
  const project = newProject('my-api', '--client')
  const { devDependencies, scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
  assert.match(devDependencies['@redocly/cli'], /^~/)
  assert.ok(devDependencies.vite)
  assert.equal(scripts.client, 'sequitur client src/app.ts --out client/api.ts')
  assert.equal(scripts.page, 'vite client')
  const { status, stdout, stderr } = sequiturIn(project, {}, 'client', 'src/app.ts', '--out', 'client/api.ts')
  assert.equal(status, 0, stdout + stderr)
  const types = spawnSync(process.execPath, [tscCommand, '-p', 'client'], { cwd: project, encoding: 'utf8' })
  assert.equal(types.stdout, '')

  assert.equal(npm(project, 'migrate').status, 0)
  const api = await start(project, [...HOOKS, 'src/main.ts'])
  for (const title of ['Call the API', 'In a browser']) await post(`${api.url}/tasks`, { title })
  const vite = [join(project, 'node_modules/vite/bin/vite.js'), 'client', '--port', '0', '--host', '127.0.0.1']
  const server = await serveIn(project, vite, variables({ API_URL: api.url, NO_COLOR: '1' }), /Local: +(http:\S+)/)
  const page = await openPage(t)
  await page.goto(server.url)
  await page.locator('li').nth(1).waitFor()
  assert.deepEqual(await page.locator('li').allTextContents(), ['Call the API', 'In a browser'])
})

for (const [option, value, hint] of [
  ['--database', 'postgre', `Did you mean 'postgres'?`],
  ['--database', 'oracle', 'Use one of sqlite, postgres, mysql.'],
  ['--auth', 'jwt', 'Use one of none, cookie, bearer.'],
] as const) {
  test(`sequitur new ${option} ${value} is refused, and creates nothing`, () => {
    const { status, stderr } = sequiturIn(workspace(), {}, 'new', 'my-api', option, value)
    assert.deepEqual([status, stderr], [1, `sequitur new: ${option} cannot be '${value}'. ${hint}\n`])
  })
}
