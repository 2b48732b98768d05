import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sequiturIn } from '../support/command.js'
import { newProject, npm, start } from '../support/new-project.js'
import { jsonOf, post } from '../support/processes.js'
import { postgresUrl } from '../support/postgres.js'

test('one variable makes a new project use PostgreSQL, also for sequitur doctor, which creates no tables', async () => {
  const project = newProject('my-api')
  const database = { toolkit_url: await postgresUrl() }
  const doctor = (others = {}) => sequiturIn(project, { ...database, ...others }, 'doctor').stdout
  assert.match(doctor({ toolkit_sync: 'true' }), /\n\nNothing found\.\n$/)
  assert.match(doctor(), /table task is missing \(model Task\)/)
  assert.equal(npm(project, 'migrate', database).status, 0)
  const served = await start(project, ['--import', 'tsx', '--import', 'sequitur/register', 'src/main.ts'], database)
  assert.equal((await post(`${served.url}/tasks`, { title: 'Read the page' })).status, 201)
  assert.deepEqual((await jsonOf(fetch(`${served.url}/tasks/1`))).data, { id: 1, title: 'Read the page', done: false })
  assert.equal(await served.stop(), 0)
  assert.match(
    doctor(),
    /^ok {7}database: fits 1 model\nok {7}database: task\.id has used 0 % of the keys of integer \(1 of 2,147,483,647\)\n\nNothing found\.\n$/m,
  )
})
