import { messageOf } from '../core/to-error.js'
import { escapeForLog } from '../core/log-text.js'
import { breakingChanges, METHODS } from './breaking/breaking-changes.js'
import { isJson, type Json } from './breaking/json.js'
import { type Command, CommandError, refuseMoreWords } from './command.js'
import { loadApp } from './load-app.js'
import { readText, writeText } from './user-files.js'

export const openapi: Command = {
  usage: 'openapi <module> [--out <file>] [--check <old document>]',
  details: `Prints the OpenAPI document of the app that the module creates, without a server or a database.
  --out    writes it to a file instead
  --check  exits with 1 if it breaks clients of the old document, and lists the breaking changes, or if that is no OpenAPI document; other failures exit with 2`,
  options: ['out', 'check'],
  failure: 2, // 1 means breaking changes
  run,
}

async function run(words: readonly string[], { out, check }: Readonly<Record<string, string>>): Promise<number> {
  const [module] = words
  if (module === undefined) throw new CommandError('Name the module that creates the app: sequitur openapi src/app.ts')
  refuseMoreWords(words, 1, 'sequitur openapi')
  const document = parseDocument(JSON.stringify((await loadApp(module)).openapi()))
  if (check === undefined || out !== undefined) write(`${JSON.stringify(document, null, 2)}\n`, out)
  return check === undefined ? 0 : reportChanges(check, changesSince(readDocument(check), document))
}

function changesSince(old: Json, document: Json): readonly string[] {
  const { openapi, paths } = old
  if (!String(openapi).startsWith('3.') || !isJson(paths) || Array.isArray(paths))
    return ['The old document is not one of OpenAPI 3: it has no "openapi" version, or no "paths"']
  const unread = unreadPath(paths)
  if (unread === undefined) return breakingChanges(old, document)
  return [
    `The old document cannot be compared: ${unread}, or one of its operations, is not an object, or refers to another place`,
  ]
}

/** A path with an operation that would be skipped. */
function unreadPath(paths: Json): string | undefined {
  const isRead = (value: unknown) => isJson(value) && !Array.isArray(value) && !('$ref' in value)
  const isReadPath = (item: unknown) =>
    isRead(item) &&
    METHODS.every((method) => !Object.hasOwn(Object(item), method) || isRead(Reflect.get(Object(item), method)))
  return Object.keys(paths).find((path) => !path.startsWith('x-') && !isReadPath(paths[path]))
}

// The report is on stderr: programs read the document, or the changes, from stdout.
function reportChanges(check: string, changes: readonly string[]): number {
  for (const change of changes) process.stdout.write(`${escapeForLog(change)}\n`)
  if (changes.length === 0) process.stderr.write(`No change breaks clients of ${check}.\n`)
  return changes.length > 0 ? 1 : 0
}

function readDocument(file: string): Json {
  const text = readText(file)
  try {
    return parseDocument(text)
  } catch (error) {
    throw new CommandError(`--check ${file}: this is not an OpenAPI document: ${messageOf(error)}`)
  }
}

function parseDocument(text: string): Json {
  const document: unknown = JSON.parse(text)
  if (isJson(document)) return document
  throw new TypeError('it is not a JSON object')
}

function write(text: string, out: string | undefined): void {
  if (out === undefined) {
    process.stdout.write(text)
    return
  }
  writeText(out, text)
  process.stderr.write(`Wrote the OpenAPI document to ${out}.\n`)
}
