// The same on both query paths: it executes no statement of its own.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newProject, npm, start } from '../support/new-project.js'
import { post, root } from '../support/processes.js'
import { until } from '../support/waiting.js'

test('the launch configuration of a new project stops at a line of a TypeScript file, with its variables', async () => {
  const project = newProject('my-api')
  const { configurations } = JSON.parse(readFileSync(join(project, '.vscode/launch.json'), 'utf8'))
  const [{ program, runtimeArgs }] = configurations
  assert.equal(npm(project, 'migrate').status, 0)
  const source = readFileSync(join(project, 'src/tasks.ts'), 'utf8').split('\n')
  const line = source.findIndex((text) => text.includes('session.get(Task, task_id)')) + 1
  const breakpoint = { file: 'src/tasks.ts', line, variables: ['task_id', 'this.constructor.name'] }
  const args = [...runtimeArgs, '--import', join(root, 'test/support/programs/breakpoint.js')]
  const served = await start(project, [...args, program.replace('${workspaceFolder}', project)], {
    BREAKPOINT: JSON.stringify(breakpoint),
  })
  assert.equal((await post(`${served.url}/tasks`, { title: 'Find the fault' })).status, 201)
  assert.equal((await fetch(`${served.url}/tasks/1`)).status, 200)
  await until('the program has paused', () => served.output().includes('Paused in get with [1,"TaskController"]'))
  assert.equal(await served.stop(), 0)
})
