/** A part of a document, as JSON. */
type Json = Readonly<Record<string, unknown>>

/** Which way a schema's values go: what clients send may become wider, what they are sent may become narrower. */
type Side = 'input' | 'output'

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** What in a new document breaks clients of an old one; a sentence for each. */
export function breakingChanges(before: Json, after: Json): string[] {
  return new Comparison(before, after).run()
}

class Comparison {
  readonly #before: Json
  readonly #after: Json
  readonly #found: string[] = []
  readonly #compared = new Set<string>()

  constructor(before: Json, after: Json) {
    this.#before = before
    this.#after = after
  }

  run(): string[] {
    for (const [path, item] of entries(this.#before['paths'])) {
      for (const method of METHODS) {
        const operation = part(item, method)
        const now = part(part(part(this.#after, 'paths'), path), method)
        if (operation) this.#operation(`${method.toUpperCase()} ${path}`, operation, now)
      }
    }
    return this.#found
  }

  #operation(where: string, before: Json, after: Json | undefined): void {
    if (!after) return void this.#found.push(`${where} was removed`)
    this.#parameters(where, list(before['parameters']), list(after['parameters']))
    this.#body(where, part(before, 'requestBody'), part(after, 'requestBody'))
    for (const [status, response] of entries(before['responses'])) {
      if (!/^[23]/.test(status)) continue
      const now = part(part(after, 'responses'), status)
      if (now) this.#contents(`${where}, response ${status}`, response, now, 'output')
      else this.#found.push(`${where} no longer answers ${status}`)
    }
  }

  #parameters(where: string, before: readonly Json[], after: readonly Json[]): void {
    const known = new Map(before.map((parameter) => [nameOf(parameter), parameter]))
    const left = new Map(after.map((parameter) => [nameOf(parameter), parameter]))
    for (const [name, parameter] of known) {
      const now = left.get(name)
      if (now) this.#schema(`${where}, ${name}`, parameter['schema'], now['schema'], 'input')
      else this.#found.push(`${where}: the ${name} was removed`)
    }
    for (const [name, parameter] of left) {
      if (parameter['required'] === true && known.get(name)?.['required'] !== true)
        this.#found.push(`${where}: the ${name} is now required`)
    }
  }

  #body(where: string, before: Json | undefined, after: Json | undefined): void {
    if (after?.['required'] === true && before?.['required'] !== true)
      this.#found.push(`${where}: the body is now required`)
    if (before && after) this.#contents(`${where}, body`, before, after, 'input')
  }

  #contents(where: string, before: Json, after: Json, side: Side): void {
    for (const [type, content] of entries(before['content'])) {
      const now = part(part(after, 'content'), type)
      if (now) this.#schema(where, content['schema'], now['schema'], side)
      else this.#found.push(`${where}: ${type} was removed`)
    }
  }

  #schema(where: string, givenBefore: unknown, givenAfter: unknown, side: Side): void {
    if (this.#seen(givenBefore, givenAfter, side)) return
    const before = resolve(givenBefore, this.#before)
    const after = resolve(givenAfter, this.#after)
    if (!fits(before, after, side))
      return void this.#found.push(`${where}: the type ${typeText(before)} became ${typeText(after)}`)
    this.#enum(where, before, after, side)
    this.#properties(where, before, after, side)
    if (before['items'] && after['items']) this.#schema(`${where}/*`, before['items'], after['items'], side)
    for (const key of ['anyOf', 'oneOf']) {
      const branches = list(after[key])
      list(before[key]).forEach(
        (branch, index) => branches[index] && this.#schema(where, branch, branches[index], side),
      )
    }
  }

  // Classes may refer to themselves.
  #seen(before: unknown, after: unknown, side: Side): boolean {
    const pair = `${side} ${reference(before)} ${reference(after)}`
    if (reference(before) === undefined || reference(after) === undefined) return false
    return this.#compared.has(pair) || !this.#compared.add(pair)
  }

  #enum(where: string, before: Json, after: Json, side: Side): void {
    const values = after['enum']
    if (side === 'output' || !Array.isArray(values)) return
    if (!Array.isArray(before['enum']))
      return void this.#found.push(`${where}: only ${values.join(', ')} are accepted now`)
    const lost = before['enum'].filter((value) => !values.includes(value))
    if (lost.length > 0) this.#found.push(`${where}: ${lost.join(', ')} is no longer accepted`)
  }

  #properties(where: string, before: Json, after: Json, side: Side): void {
    const now = new Map(entries(after['properties']))
    const [required, requiredNow] = [names(before['required']), names(after['required'])]
    for (const [name, schema] of entries(before['properties'])) {
      const schemaNow = now.get(name)
      if (schemaNow) this.#schema(`${where}/${name}`, schema, schemaNow, side)
      else if (side === 'output' || after['additionalProperties'] === false)
        this.#found.push(`${where}: the property ${name} was removed`)
      if (schemaNow && side === 'output' && required.has(name) && !requiredNow.has(name))
        this.#found.push(`${where}: the property ${name} may be missing now`)
    }
    if (side === 'output') return
    for (const name of requiredNow)
      if (!required.has(name)) this.#found.push(`${where}: the property ${name} is now required`)
  }
}

function part(json: unknown, key: string): Json | undefined {
  const value: unknown = (json as Json | undefined)?.[key]
  return typeof value === 'object' && value !== null ? (value as Json) : undefined
}

function entries(json: unknown): [string, Json][] {
  return Object.entries((json ?? {}) as Readonly<Record<string, Json>>)
}

function list(json: unknown): readonly Json[] {
  return Array.isArray(json) ? (json as Json[]) : []
}

function names(json: unknown): ReadonlySet<string> {
  return new Set(Array.isArray(json) ? (json as string[]) : [])
}

/** `query parameter 'limit'` */
function nameOf(parameter: Json): string {
  return `${String(parameter['in'])} parameter '${String(parameter['name'])}'`
}

function reference(schema: unknown): string | undefined {
  const $ref: unknown = (schema as Json | undefined)?.['$ref']
  return typeof $ref === 'string' ? $ref : undefined
}

function resolve(schema: unknown, document: Json): Json {
  const path = reference(schema)?.split('/').slice(1)
  if (!path) return (schema ?? {}) as Json
  return path.reduce<Json | undefined>((json, key) => part(json, key), document) ?? {}
}

function typesOf({ type }: Json): readonly string[] | undefined {
  return type === undefined ? undefined : ([type].flat() as string[])
}

function typeText(schema: Json): string {
  return typesOf(schema)?.join(' or ') ?? 'any'
}

/** Whether clients that know the old types can live with the new ones. */
function fits(before: Json, after: Json, side: Side): boolean {
  const [narrow, wide] = side === 'input' ? [typesOf(before), typesOf(after)] : [typesOf(after), typesOf(before)]
  if (!wide) return true
  return narrow?.every((type) => wide.includes(type) || (type === 'integer' && wide.includes('number'))) ?? false
}
