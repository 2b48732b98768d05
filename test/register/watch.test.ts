import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { environment, inTsx, project } from '../support/project.js'

const heroes = (name: string) => `
import 'reflect-metadata'
const Get: MethodDecorator = () => {}
export class Heroes { @Get list(limit: number) {} }
export const name: string = '${name}'`

const app = `
import { Heroes, name } from './heroes.js'
const [limit] = Reflect.getMetadata('design:paramtypes', Heroes.prototype, 'list')
console.log(name, limit.name)`

test('tsx watch runs again when a decorated file changes', async (t) => {
  const root = await project(t, { 'app.ts': app, 'heroes.ts': heroes('Robin') })
  await using watched = new Watched(root)
  assert.ok(await watched.prints('Robin Number', 30_000), watched.output)

  // More than once, because tsx does not report when it has begun to watch. Each time with twice the patience: a change ends a run that is slower.
  for (let patience = 1_000; patience <= 32_000; patience *= 2) {
    await writeFile(join(root, 'heroes.ts'), heroes('Batman'))
    if (await watched.prints('Batman Number', patience)) return
  }
  assert.fail(`No second run within a minute:\n${watched.output}`)
})

class Watched implements AsyncDisposable {
  output = ''
  readonly #child: ChildProcess

  constructor(root: string) {
    const [command = '', ...args] = inTsx.args
    this.#child = spawn(process.execPath, [command, 'watch', ...args, 'app.ts'], {
      cwd: root,
      env: environment(inTsx),
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group of its own, so that the program that tsx starts ends with it.
      detached: true,
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk))
    }
  }

  async prints(text: string, milliseconds: number): Promise<boolean> {
    for (const end = Date.now() + milliseconds; Date.now() < end; await pause(50)) {
      if (this.output.includes(text)) return true
    }
    return false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    const exit = once(this.#child, 'exit')
    process.kill(-pid, 'SIGKILL')
    await exit
  }
}
