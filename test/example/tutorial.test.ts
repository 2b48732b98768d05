// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { Author, Book } from '../../example/tutorial/book.js'
import { sequiturIn } from '../support/command.js'
import { newProject, npm, start } from '../support/new-project.js'
import { serverUrl } from '../support/postgres.js'
import { root } from '../support/processes.js'
// The test that docs/tutorial.md shows runs as one of the tests.
import '../../example/tutorial/library.test.js'
import { AuthorController, BookController } from '../../example/tutorial/books.js'

/*
 * Follows docs/tutorial.md from its beginning to its end, as a reader does: saves its files, makes its changes, and compares what its commands print.
 */

const page = readFileSync(join(root, 'docs/tutorial.md'), 'utf8')

/** A step of the page. */
type Step =
  | { readonly kind: 'file'; readonly path: string; readonly code: string }
  | { readonly kind: 'diff'; readonly path: string; readonly lines: readonly string[] }
  | { readonly kind: 'command'; readonly command: string; readonly output: string }

const HOOKS = ['--import', 'tsx', '--import', 'sequitur/register']
const SAVED = /^Save it as `([^`]+)`\.\n\n\[`[^`]+`\]\([^)]+\):\n\n```ts\n([^]*?)^```$/
const CHANGED = /^`(src\/[^`]+)`:\n\n```diff\n([^]*?)^```$/
const CONSOLE = /^```console\n([^]*?)^```$/
const STEP = new RegExp([SAVED, CHANGED, CONSOLE].map(({ source }) => source).join('|'), 'gm')

function* stepsOf(text: string): Generator<Step> {
  for (const [, saved, code = '', changed, lines = '', commands = ''] of text.matchAll(STEP)) {
    if (saved !== undefined) yield { kind: 'file', path: saved, code }
    else if (changed !== undefined) yield { kind: 'diff', path: changed, lines: lines.trimEnd().split('\n') }
    else
      for (const [, command = '', output = ''] of commands.matchAll(/^\$ (.+)\n((?:(?!\$ ).*\n)*)/gm))
        yield { kind: 'command', command, output: output.trimEnd() }
  }
}

/** The text with the lines of a diff: those with a minus, and those without a mark, have to be there. */
function patched(text: string, lines: readonly string[]): string {
  const before = lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1))
  const after = lines.filter((line) => !line.startsWith('-')).map((line) => line.slice(1))
  assert.ok(text.includes(before.join('\n')), `not in the file:\n${before.join('\n')}`)
  return text.replace(before.join('\n'), () => after.join('\n'))
}

/** Whether the output is what the page shows; `…` stands for anything. */
function matches(shown: string, output: string): boolean {
  const source = shown
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*?')
  return new RegExp(`^${source}$`, 's').test(output)
}

class Reader {
  readonly #project = newProject('library')
  #server: Awaited<ReturnType<typeof start>> | undefined
  #token = ''

  async do(step: Step): Promise<void> {
    if (step.kind === 'command') return this.#compare(step)
    await this.#stop() // `npm run dev` starts again when a file changes
    const path = join(this.#project, step.path)
    if (step.kind === 'diff') return writeFileSync(path, patched(readFileSync(path, 'utf8'), step.lines))
    const code = step.path.startsWith('test/') ? step.code.replaceAll(`from './`, `from '../src/`) : step.code
    writeFileSync(path, code)
  }

  async #compare({ command, output }: Extract<Step, { kind: 'command' }>): Promise<void> {
    const printed = await this.#run(command)
    assert.ok(matches(output, printed), `$ ${command}\n${printed}\n--- the page has:\n${output}`)
  }

  async #run(command: string): Promise<string> {
    const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '')
    const [program, ...rest] = words
    if (command === 'npm run dev') {
      const { url } = await this.#started()
      return `Listening on ${url}, documentation at ${url}/docs`.replaceAll(url, 'http://127.0.0.1:8000')
    }
    if (command.startsWith('TOKEN=')) return ''
    if (program === 'curl') return this.#curl(rest)
    if (program === 'npm') return outputOf(npm(this.#project, rest.at(-1) ?? ''))
    assert.deepEqual([program, rest[0]], ['npx', 'sequitur'])
    return sequiturIn(this.#project, {}, ...rest.slice(1)).stdout.trimEnd()
  }

  async #curl(words: readonly string[]): Promise<string> {
    const { url } = await this.#started()
    const path = words.find((word) => word.startsWith('localhost:8000'))?.replace('localhost:8000', '') ?? ''
    const after = (option: string) => (words.includes(option) ? words[words.indexOf(option) + 1] : undefined)
    const json = after('--json')
    const [name = 'accept', value = '*/*'] = after('-H')?.replace('$TOKEN', this.#token).split(': ') ?? []
    const response = await fetch(url + path, {
      method: after('-X') ?? (json === undefined ? 'GET' : 'POST'),
      headers: { [name]: value, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(json === undefined ? {} : { body: json }),
    })
    const text = await response.text()
    this.#token = /"token":"([^"]+)"/.exec(text)?.[1] ?? this.#token
    return text
  }

  /** As its chapter on PostgreSQL. */
  async moveTo(url: string): Promise<void> {
    await this.#stop()
    const variables = { toolkit_url: url }
    const folder = join(this.#project, 'src/migrations')
    for (const name of readdirSync(folder)) if (/-create-(?:book|loan)\.ts$/.test(name)) rmSync(join(folder, name))
    for (const words of [['up'], ['diff', 'create-library'], ['up']])
      assert.equal(sequiturIn(this.#project, variables, 'migrate', ...words).status, 0)
    this.#server = await start(this.#project, [...HOOKS, 'src/main.ts'], variables)
    assert.equal(await this.#curl(['localhost:8000/authors', '--json', '{"name":"A"}']), '{"data":{"id":1,"name":"A"}}')
    await this.#stop()
  }

  async #started() {
    return (this.#server ??= await start(this.#project, [...HOOKS, 'src/main.ts']))
  }

  async #stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server) assert.equal(await server.stop('SIGTERM'), 0)
  }
}

/** Without the lines with which npm begins. */
function outputOf({ stdout, stderr, status }: ReturnType<typeof npm>): string {
  assert.equal(status, 0, stdout + stderr)
  return stdout.replace(/^(?:\n?> .*\n)+\n?/, '').trimEnd()
}

const steps = [...stepsOf(page)]

test('the tutorial works as it is written, from the first command to the last one', async () => {
  const counts = ['file', 'diff', 'command'].map((wanted) => steps.filter(({ kind }) => kind === wanted).length)
  assert.deepEqual(counts, [7, 8, 28])
  const reader = new Reader()
  for (const step of steps) await reader.do(step)
  if (!process.env['TEST_QUICK']) await reader.moveTo(await serverUrl())
})

test('a book is changed and removed; one that is not there is a 404', async (t) => {
  const controllers = [AuthorController, BookController]
  const { fetch, close } = await testApp({ controllers, models: [Author, Book], lifespan: memoryDatabase() })
  t.after(close)
  const send = async (method: string, path: string, json?: unknown) => (await fetch(path, { method, json })).status
  assert.equal(await send('POST', '/authors', { name: 'Ursula K. Le Guin' }), 201)
  assert.equal(await send('POST', '/books', { title: 'Malafrena', year: 1978, author_id: 1 }), 201)
  for (const [method, json] of [
    ['PATCH', { year: 1979 }],
    ['DELETE', undefined],
  ] as const) {
    assert.equal(await send(method, '/books/1', json), method === 'PATCH' ? 200 : 204)
    assert.equal(await send(method, '/books/2', json), 404)
  }
})
