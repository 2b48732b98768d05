import type { Side } from './bounds.js'
import { entries, type Json, list, part } from './json.js'
import { defaultChange, SchemaComparison } from './schemas.js'
import { securityChanges } from './security.js'

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** What in a new document breaks clients of an old one; a sentence for each. */
export function breakingChanges(before: Json, after: Json): string[] {
  return new Comparison(before, after).run()
}

/** An operation, and where it is. */
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
    this.#body(where, part(before.json, 'requestBody'), part(after.json, 'requestBody'))
    this.#responses(where, part(before.json, 'responses'), part(after.json, 'responses'))
    const changes = securityChanges(
      { document: this.#before, operation: before.json },
      { document: this.#after, operation: after.json },
    )
    this.#found.push(...changes.map((change) => `${where}: ${change}`))
  }

  // Generators of clients make their names of it.
  #name(where: string, before: unknown, after: unknown): void {
    if (before !== undefined && before !== after)
      this.#found.push(`${where}: the operationId ${String(before)} became ${String(after)}`)
  }

  #parameters(where: string, before: ReadonlyMap<string, Json>, after: ReadonlyMap<string, Json>): void {
    for (const [key, parameter] of before) {
      const now = after.get(key)
      if (now) this.#parameter(`${where}, ${nameOf(parameter)}`, parameter, now)
      else this.#found.push(`${where}: the ${nameOf(parameter)} was removed`)
    }
    for (const [key, parameter] of after) {
      if (parameter['required'] === true && before.get(key)?.['required'] !== true)
        this.#found.push(`${where}: the ${nameOf(parameter)} is now required`)
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

  // A client must be ready for any error; what it looks like is told by 'default'.
  #responses(where: string, before: Json | undefined, after: Json | undefined): void {
    for (const [status, response] of entries(before)) {
      const now = part(after, status)
      if (now) this.#contents(`${where}, response ${status}`, response, now, 'output')
      else if (/^[23]/.test(status)) this.#found.push(`${where} no longer answers ${status}`)
    }
  }

  #contents(where: string, before: Json, after: Json, side: Side): void {
    for (const [type, content] of entries(before['content'])) {
      const now = part(part(after, 'content'), type)
      if (now) this.#schema(where, content['schema'], now['schema'], side)
      else this.#found.push(`${where}: ${type} was removed`)
    }
  }

  #schema(where: string, before: unknown, after: unknown, side: Side): void {
    this.#found.push(...this.#schemas.compare(before, after, side).map((change) => where + change))
  }
}

/** By method and path; what the path's variables are called is nothing to a client. */
function operationsOf(document: Json): ReadonlyMap<string, Operation> {
  const operations = entries(document['paths']).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const json = part(item, method)
      const key = `${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`
      return json ? [[key, { json, path }] as const] : []
    }),
  )
  return new Map(operations)
}

/** By place and name; variables of the path by their position in it. */
function parametersOf({ json, path }: Operation): ReadonlyMap<string, Json> {
  const variables = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name)
  const parameters = list(json['parameters']).map((parameter): [string, Json] => {
    const { in: place, name } = parameter
    return [`${String(place)} ${place === 'path' ? variables.indexOf(name as string) : String(name)}`, parameter]
  })
  return new Map(parameters)
}

/** `query parameter 'limit'` */
function nameOf(parameter: Json): string {
  return `${String(parameter['in'])} parameter '${String(parameter['name'])}'`
}
