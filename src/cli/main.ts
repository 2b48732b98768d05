#!/usr/bin/env node
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { describeError, escapeForLog } from '../core/log-text.js'
import { startupMessage } from '../core/startup-error.js'
import { type Describable, setAppObserver } from '../http/app-observer.js'
import '../register/index.js'
import { breakingChanges } from './breaking.js'
import { isJson, type Json } from './json.js'

const USAGE = `Usage: sequitur openapi <module> [--out <file>] [--check <old document>]

Prints the OpenAPI document of the app that the module creates, without a server or a database.
  --out    writes it to a file instead
  --check  exits with 1 if it breaks clients of the old document, and lists the breaking changes
`

class UsageError extends Error {}

async function main(): Promise<number> {
  const { module, out, check } = readArguments()
  const document = parseDocument(JSON.stringify((await appOf(module)).openapi()))
  if (check === undefined || out !== undefined) write(`${JSON.stringify(document, null, 2)}\n`, out)
  if (check === undefined) return 0
  const changes = breakingChanges(readDocument(check), document)
  for (const change of changes) process.stdout.write(`${escapeForLog(change)}\n`)
  return changes.length > 0 ? 1 : 0
}

function readArguments() {
  const options = { out: { type: 'string' }, check: { type: 'string' } } as const
  try {
    const { positionals, values } = parseArgs({ allowPositionals: true, options })
    const [command, module, ...others] = positionals
    if (command === 'openapi' && module !== undefined && others.length === 0) return { module, ...values }
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
  throw new UsageError('Name the module that creates the app: sequitur openapi src/app.ts')
}

function readDocument(file: string): Json {
  try {
    return parseDocument(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`--check ${file}: this is not an OpenAPI document: ${messageOf(error)}`)
  }
}

function parseDocument(text: string): Json {
  const document: unknown = JSON.parse(text)
  if (isJson(document)) return document
  throw new TypeError('it is not a JSON object')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function write(text: string, out: string | undefined): void {
  if (out === undefined) process.stdout.write(text)
  else writeFileSync(out, text)
}

/** The app on which the module calls listen(), else the one that it exports, else the last one that it creates. */
async function appOf(module: string): Promise<Describable> {
  if (!existsSync(module)) throw new UsageError(`There is no file ${module}. Name the module that calls createApp().`)
  let last: Describable | undefined
  const listening = new Promise<Describable>((listens) => setAppObserver({ created: (app) => (last = app), listens }))
  const exported = import(pathToFileURL(resolve(module)).href).then((values: object) =>
    Object.values(values).find(isDescribable),
  )
  const app = (await Promise.race([listening, exported])) ?? last
  if (!app) throw new UsageError(`${module} creates no app. Name the module that calls createApp().`)
  return app
}

function isDescribable(value: unknown): value is Describable {
  return typeof value === 'object' && value !== null && 'openapi' in value && typeof value.openapi === 'function'
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(
    error instanceof UsageError
      ? `${escapeForLog(error.message)}\n\n${USAGE}`
      : `${startupMessage(error) ?? describeError(error)}\n`,
  )
  process.exitCode = 2
}
// Open connections or timers of the module must not keep the process running.
process.stdout.write('', () => process.exit())
