import type { Direction } from './bounds.js'
import { isJson, type Json, listOf, objectAt, objectEntries } from './json.js'
import { defaultChange, SchemaComparison } from './schemas.js'
import { securityChanges } from './security.js'

/** The methods that have an operation in a path of OpenAPI. */
export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

/** The changes of an OpenAPI document that break clients of the old one, as sentences. */
export function breakingChanges(before: Json, after: Json): string[] {
  return new Comparison(before, after).run()
}

/** An operation and its path. */
interface Operation {
  readonly json: Json
  readonly path: string
}

class Comparison {
  readonly #before: Json
  readonly #after: Json
  readonly #schemas: SchemaComparison
  readonly #found: string[] = []

  constructor(before: Json, after: Json) {
    this.#before = before
    this.#after = after
    this.#schemas = new SchemaComparison(before, after)
  }

  run(): string[] {
    const now = operationsOf(this.#after)
    for (const [key, operation] of operationsOf(this.#before)) {
      const where = `${key.split(' ')[0]} ${operation.path}`
      const left = now.get(key)
      if (left) this.#operation(where, operation, left)
      else this.#found.push(`${where} was removed`)
    }
    return this.#found
  }

  #operation(where: string, before: Operation, after: Operation): void {
    this.#name(where, before.json['operationId'], after.json['operationId'])
    this.#parameters(where, parametersOf(before), parametersOf(after))
    this.#body(where, objectAt(before.json, 'requestBody'), objectAt(after.json, 'requestBody'))
    this.#responses(where, objectAt(before.json, 'responses'), objectAt(after.json, 'responses'))
    const changes = securityChanges(
      { document: this.#before, operation: before.json },
      { document: this.#after, operation: after.json },
    )
    this.#found.push(...changes.map((change) => `${where}: ${change}`))
  }

  // Generated clients name their methods after it.
  #name(where: string, before: unknown, after: unknown): void {
    if (before !== undefined && before !== after)
      this.#found.push(`${where}: the operationId ${String(before)} became ${String(after)}`)
  }

  #parameters(where: string, before: ReadonlyMap<string, Json>, after: ReadonlyMap<string, Json>): void {
    for (const [key, parameter] of before) {
      const now = after.get(key)
      if (now) this.#parameter(`${where}, ${parameterName(parameter)}`, parameter, now)
      else this.#found.push(`${where}: the ${parameterName(parameter)} was removed`)
    }
    for (const [key, parameter] of after) {
      if (parameter['required'] === true && before.get(key)?.['required'] !== true)
        this.#found.push(`${where}: the ${parameterName(parameter)} is now required`)
    }
  }

  #parameter(where: string, before: Json, after: Json): void {
    this.#schema(where, before['schema'], after['schema'], 'input')
    const change = defaultChange(before['schema'], after['schema'])
    if (change && before['required'] !== true && after['required'] !== true) this.#found.push(`${where}: ${change}`)
  }

  #body(where: string, before: Json | undefined, after: Json | undefined): void {
    if (after?.['required'] === true && before?.['required'] !== true)
      this.#found.push(`${where}: the body is now required`)
    if (before && !after) this.#found.push(`${where}: the body was removed`)
    if (before && after) this.#contents(`${where}, body`, before, after, 'input')
  }

  // A removed error breaks no client: it handles any error, by the response 'default'.
  #responses(where: string, before: Json | undefined, after: Json | undefined): void {
    for (const [status, response] of objectEntries(before)) {
      const now = objectAt(after, status)
      if (now) this.#contents(`${where}, response ${status}`, response, now, 'output')
      else if (/^[23]/.test(status)) this.#found.push(`${where} no longer responds with ${status}`)
    }
  }

  #contents(where: string, before: Json, after: Json, direction: Direction): void {
    for (const [type, content] of objectEntries(before['content'])) {
      const now = objectAt(objectAt(after, 'content'), type)
      if (now) this.#schema(where, content['schema'], now['schema'], direction)
      else this.#found.push(`${where}: ${type} was removed`)
    }
  }

  #schema(where: string, before: unknown, after: unknown, direction: Direction): void {
    this.#found.push(...this.#schemas.compare(before, after, direction).map((change) => where + change))
  }
}

/** By method and path, without the names of the path's variables: clients do not see them. */
function operationsOf(document: Json): ReadonlyMap<string, Operation> {
  const operations = objectEntries(document['paths']).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const json = objectAt(item, method)
      const key = `${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`
      return json ? [[key, { json, path }] as const] : []
    }),
  )
  return new Map(operations)
}

/** By location and name; variables of the path by their position in it. */
function parametersOf({ json, path }: Operation): ReadonlyMap<string, Json> {
  const variables = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name)
  const parameters = listOf(json['parameters']).filter(isJson)
  return new Map(
    parameters.map((parameter) => {
      const { in: location, name } = parameter
      const key = location === 'path' ? variables.findIndex((variable) => variable === name) : String(name)
      return [`${String(location)} ${key}`, parameter]
    }),
  )
}

/** `query parameter 'limit'` */
function parameterName(parameter: Json): string {
  return `${String(parameter['in'])} parameter '${String(parameter['name'])}'`
}
