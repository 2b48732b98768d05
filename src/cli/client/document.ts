import { messageOf } from '../../core/to-error.js'
import { METHODS } from '../breaking/breaking-changes.js'
import { isJson, type Json, listOf, objectAt, objectEntries } from '../breaking/json.js'
import { CommandError } from '../command.js'
import { loadApp } from '../load-app.js'
import { readText } from '../user-files.js'

/** The OpenAPI document of a URL, of a JSON file, or of the app that a module creates. @throws CommandError if there is none. */
export async function documentOf(source: string): Promise<Json> {
  if (/^https?:/.test(source)) return parse(source, await download(source))
  if (source.endsWith('.json')) return parse(source, readText(source))
  return parse(source, JSON.stringify((await loadApp(source)).openapi()))
}

const JSON_TYPE = 'application/json'
const LIMIT = 30_000

async function download(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LIMIT) })
    if (response.ok) return await response.text()
    throw new Error(`it answers ${response.status}`)
  } catch (error) {
    throw new CommandError(`Cannot read ${url}: ${messageOf(error)}`)
  }
}

function parse(source: string, text: string): Json {
  try {
    const document: unknown = JSON.parse(text)
    if (isJson(document) && isJson(document['paths'])) return document
  } catch {
    // as below
  }
  throw new CommandError(`${source} is not an OpenAPI document in JSON.`)
}

/**
 * A copy for generators. Headers that the client makes itself are optional, so that the compiler does not ask for them in each call. A response that can be
 * JSON is JSON, which the client accepts: generators take the type of the first one. Patterns next to a type are left out: they make it unknown.
 */
export function forClients(document: Json): Json {
  const copy = structuredClone(document)
  for (const [, item] of objectEntries(copy['paths']))
    for (const method of METHODS) {
      const operation = objectAt(item, method)
      for (const parameter of listOf(operation?.['parameters']))
        if (isJson(parameter) && parameter['x-generated'] === true) Reflect.set(parameter, 'required', false)
      for (const [, response] of objectEntries(operation?.['responses'])) {
        const json = objectAt(response['content'], JSON_TYPE)
        if (json) Reflect.set(response, 'content', { [JSON_TYPE]: json })
      }
    }
  removePatterns(copy)
  return copy
}

/** Removes each `allOf` of nothing but patterns, as of `notEmpty`, next to a type. */
function removePatterns(value: unknown): void {
  if (!isJson(value)) return
  const parts = listOf(value['allOf'])
  const isPattern = (part: unknown) => isJson(part) && Object.keys(part).every((key) => PATTERNS.has(key))
  if ('type' in value && parts.length > 0 && parts.every(isPattern)) Reflect.deleteProperty(value, 'allOf')
  for (const inner of Object.values(value)) removePatterns(inner)
}

const PATTERNS: ReadonlySet<string> = new Set(['pattern', 'not'])
