import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { escapeForLog } from '../core/log-text.js'
import { documentOf, forClients } from './client/document.js'
import { generate } from './client/generator.js'
import { type Command, CommandError, refuseMoreWords } from './command.js'
import { DEFAULT_MODULE } from './load-app.js'
import { PACKAGE_ROOT } from './own-package.js'
import { writeText } from './user-files.js'

export const client: Command = {
  usage: 'client [source] --out <file.ts> [--tanstack] [--check]',
  details: `Generates a client of the app with @redocly/cli, which the project installs. The source is a module that creates the app, the URL of an OpenAPI
document, or a JSON file. Without a source: ${DEFAULT_MODULE}.
  --out       the file of the client; another one, *.sequitur.ts, is written next to it
  --tanstack  also writes options of queries and mutations for TanStack Query
  --check     writes nothing, and exits with 1 if a file is not what it would be`,
  options: ['out'],
  flags: ['tanstack', 'check'],
  run,
}

async function run(
  words: readonly string[],
  { out }: Readonly<Record<string, string>>,
  flags: ReadonlySet<string>,
): Promise<number> {
  refuseMoreWords(words, 1, 'sequitur client')
  if (!out?.endsWith('.ts'))
    throw new CommandError('Name the file of the client: sequitur client --out ../web/src/api.ts')
  const document = forClients(await documentOf(words[0] ?? DEFAULT_MODULE))
  const generated = generate(document, { out, tanstack: flags.has('tanstack') })
  const helper = `${basename(out, '.ts')}.sequitur.ts`
  const files = new Map([...generated, [helper, readFileSync(HELPER, 'utf8')]])
  const paths = [...files].map(([name, text]): [string, string] => [join(dirname(out), name), text])
  return flags.has('check') ? report(paths.filter(([path, text]) => !isSame(path, text))) : write(paths)
}

const HELPER = new URL('template/client/api.sequitur.ts', PACKAGE_ROOT)

function isSame(path: string, text: string): boolean {
  return existsSync(path) && readFileSync(path, 'utf8').replaceAll('\r\n', '\n') === text
}

function report(different: readonly (readonly [path: string, text: string])[]): number {
  for (const [path] of different) process.stdout.write(`${escapeForLog(path)} is not what it would be.\n`)
  return different.length > 0 ? 1 : 0
}

function write(paths: readonly (readonly [path: string, text: string])[]): number {
  for (const [path, text] of paths) {
    writeText(path, text)
    process.stdout.write(`Wrote ${escapeForLog(path)}\n`)
  }
  return 0
}
