import type { App } from 'sequitur'
import { random } from './fuzz.js'
import { newAjvWithFormats } from './json-schema.js'

/*
 * Requests generated from the OpenAPI document of an app: valid ones, and ones in which a value was replaced, removed or added. The JSON
 * Schema of a body decides whether the request is valid.
 */

export interface GeneratedRequest {
  readonly method: string
  /** The path in the OpenAPI document: `/heros/{hero_id}`. */
  readonly path: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Whether the OpenAPI document allows its body; undefined if a value in the URL or in a header was replaced. */
  readonly isGood: boolean | undefined
}

interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly maxProperties?: number
}

/** Of properties that no schema names. */
const NAMES = ['toString', 'a/b', 'constructor', '']

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly required: boolean
  readonly schema: JsonSchema
}

interface Operation {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: JsonSchema } } }
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

const TEXTS = [
  [
    '',
    ' ',
    'a',
    'ab',
    'abc',
    'Robin',
    'ñ',
    '🎉',
    'a\u0000b',
    '\ud83c',
    '\u2028',
    "'; DROP TABLE hero; --",
    '<b>',
    '%00',
    '../..',
    'null',
  ],
  [
    '0',
    '1',
    '2',
    '-1',
    '5',
    '1e3',
    '0x10',
    ' 5',
    '5 ',
    '+5',
    '１２',
    '1.5',
    '-0',
    '00',
    '1_000',
    '2147483647',
    '2147483648',
    '4711',
  ],
  [
    '9007199254740993',
    '-9223372036854775808',
    '9223372036854775808',
    '99999999999999999999',
    '0.10',
    '12.50',
    '99999.99',
    'NaN',
  ],
  ['true', 'false', 'yes', '2026-01-31', '2026-02-30', '2026-01-31T12:00:00Z', '2026-01-31T12:00:00+02:00'],
  [
    '23:59:58',
    '24:00:00',
    '0198a3c4-7b1e-7000-8000-000000000001',
    'a@b.co',
    'https://example.com',
    'AAAA',
    'AP8=',
    'x'.repeat(300),
  ],
  ['__proto__', 'constructor', 'toString', '$id', '~1/~0'],
].flat()

const NUMBERS = [
  0,
  1,
  2,
  5,
  10,
  17,
  100,
  1000,
  4711,
  -1,
  1.5,
  -0.25,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53 - 1,
  2 ** 53,
  1e300,
  -1e-300,
]

const AWKWARD: readonly unknown[] = [
  ...TEXTS,
  ...NUMBERS,
  null,
  true,
  [],
  [null],
  ['a', 'a'],
  {},
  { a: 1 },
  [[[[]]]],
  { toString: 1, hasOwnProperty: [] },
]

/** Formats of the OpenAPI registry that ajv-formats does not know, or does not check as strings. */
const REGISTRY = {
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  int64: (text: string) => /^-?\d+$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text),
  'double-int': { type: 'number', validate: Number.isSafeInteger },
} as const

/** Generates requests. The same seed gives the same requests in every run. */
export class Requests {
  readonly #document: Document
  readonly #ajv = newAjvWithFormats()
  readonly #random: (below: number) => number

  constructor(app: App, seed = 1) {
    this.#document = JSON.parse(JSON.stringify(app.openapi())) as Document
    for (const [name, format] of Object.entries(REGISTRY)) this.#ajv.addFormat(name, format)
    this.#ajv.addSchema(this.#document as object, 'document')
    this.#random = random(seed)
  }

  /** `count` requests for each operation; every second one is meant to be valid. */
  *all(count: number): Generator<GeneratedRequest> {
    for (const [path, item] of Object.entries(this.#document.paths))
      for (const [method, operation] of Object.entries(item))
        for (let number = 0; number < count; number++) yield this.#request(method, path, operation, number % 2 === 0)
  }

  #request(method: string, path: string, operation: Operation, good: boolean): GeneratedRequest {
    const { parameters = [], requestBody } = operation
    const texts = parameters.map((parameter) => [parameter, this.#textsOf(parameter)] as const)
    const changed =
      !good && texts.length > 0 && (!requestBody || this.#random(3) === 0) ? this.#random(texts.length) : -1
    const values = texts.map(
      ([parameter, list], index) => [parameter, index === changed ? this.#change(parameter) : list] as const,
    )
    const url = values.reduce(
      (built, [{ in: place, name }, [text = '']]) =>
        place === 'path' ? built.replace(`{${name}}`, encode(text)) : built,
      path,
    )
    const query = values.flatMap(([{ in: place, name }, list]) =>
      place === 'query' ? list.map((text) => `${encode(name)}=${encode(text)}`) : [],
    )
    const headers = values.flatMap(([{ in: place, name }, [text]]) =>
      place === 'header' && text !== undefined ? [[name, inHeader(text)]] : [],
    )
    const cookies = values.flatMap(([{ in: place, name }, [text]]) =>
      place === 'cookie' && text !== undefined ? [`${name}=${encode(text)}`] : [],
    )
    if (cookies.length > 0) headers.push(['cookie', cookies.join('; ')])
    const request = { method, path, url: query.length > 0 ? `${url}?${query.join('&')}` : url }
    const given = Object.fromEntries(headers) as Record<string, string>
    if (!requestBody)
      return { ...request, headers: given, isGood: changed < 0 && !request.url.includes('cursor=') ? true : undefined }
    const { schema } = requestBody.content['application/json']
    const json = good || changed >= 0 ? this.#make(schema, 0) : this.#mutate(this.#make(schema, 0))
    const isGood = changed < 0 ? this.#allows(schema, json) && isWellFormed(json) : undefined
    return { ...request, headers: { ...given, 'content-type': 'application/json' }, body: JSON.stringify(json), isGood }
  }

  #textsOf({ required, schema }: Parameter): readonly string[] {
    if (!required && this.#random(2) === 0) return []
    const value = this.#make(schema, 0)
    return Array.isArray(value) ? value.map(String) : [String(value)]
  }

  #change({ in: place }: Parameter): readonly string[] {
    const text = this.#pick(TEXTS)
    if (place === 'path') return [text === '' ? ' ' : text]
    return this.#random(4) === 0 ? [text, this.#pick(TEXTS)] : this.#random(5) === 0 ? [] : [text]
  }

  #allows(schema: JsonSchema, json: unknown): boolean {
    return this.#ajv.validate(this.#absolute(schema), json)
  }

  // References are resolved from the root of the OpenAPI document.
  #absolute(schema: JsonSchema): JsonSchema {
    const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/')
    return JSON.parse(text) as JsonSchema
  }

  #resolve(schema: JsonSchema): JsonSchema {
    const name = schema.$ref?.split('/').at(-1)
    return name === undefined ? schema : this.#resolve(this.#document.components?.schemas[name] ?? {})
  }

  /** A value that the schema allows, if one of the candidates is allowed. */
  #make(given: JsonSchema, depth: number): unknown {
    const schema = this.#resolve(given)
    if (schema.const !== undefined) return schema.const
    if (schema.enum) return this.#pick(schema.enum)
    const branches = schema.oneOf ?? schema.anyOf
    if (branches) return this.#make(this.#pick(depth > 3 ? branches.slice(-1) : branches), depth + 1)
    const types = [schema.type ?? []].flat()
    switch (this.#pick(types.length > 0 ? types : ['null', 'string', 'integer', 'object'])) {
      case 'null':
        return null
      case 'boolean':
        return this.#random(2) === 0
      case 'integer':
      case 'number':
        return this.#fitting(given, NUMBERS)
      case 'string':
        return this.#fitting(given, TEXTS.filter(isWellFormed))
      case 'array':
        return this.#array(schema, depth)
      default:
        return this.#object(schema, depth)
    }
  }

  #array({ items = {}, minItems = 0, maxItems = 3 }: JsonSchema, depth: number): unknown[] {
    const length = minItems + (depth > 3 ? 0 : this.#random(Math.min(maxItems, minItems + 3) - minItems + 1))
    return Array.from({ length }, () => this.#make(items, depth + 1))
  }

  #object(schema: JsonSchema, depth: number): object {
    const { properties = {}, required = [], additionalProperties } = schema
    if (typeof additionalProperties === 'object' && schema.properties === undefined)
      return this.#map(additionalProperties, schema.maxProperties, depth)
    const names = Object.keys(properties).filter(
      (name) => required.includes(name) || (depth < 3 && this.#random(2) === 0),
    )
    return Object.fromEntries(names.map((name) => [name, this.#make(properties[name] ?? {}, depth + 1)]))
  }

  #map(values: JsonSchema, maxProperties = NAMES.length, depth: number): object {
    const names = NAMES.slice(0, depth > 3 ? 0 : this.#random(Math.min(maxProperties, NAMES.length) + 1))
    return Object.fromEntries(names.map((name) => [name, this.#make(values, depth + 1)]))
  }

  #fitting(schema: JsonSchema, candidates: readonly unknown[]): unknown {
    const absolute = this.#absolute(schema)
    const fitting = candidates.filter((candidate) => this.#ajv.validate(absolute, candidate))
    return this.#pick(fitting.length > 0 ? fitting : candidates)
  }

  /** The value with one of its parts replaced or removed, or with one more. */
  #mutate(json: unknown): unknown {
    if (typeof json !== 'object' || json === null || this.#random(8) === 0) return this.#pick(AWKWARD)
    const keys = Object.keys(json)
    const way = keys.length === 0 ? 0 : this.#random(4)
    if (Array.isArray(json))
      return way === 0 ? [...json, this.#pick(AWKWARD)] : json.with(this.#random(json.length), this.#pick(AWKWARD))
    const copy = structuredClone(json) as Record<string, unknown>
    const key = this.#pick(keys)
    if (way === 0) copy[this.#pick(TEXTS.filter((text) => text !== '__proto__'))] = this.#pick(AWKWARD)
    else if (way === 1) delete copy[key]
    else copy[key] = this.#mutate(copy[key])
    return copy
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random(list.length)] as T
  }
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

// A header holds one line of Latin letters.
function inHeader(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/gu, '?').trim()
}

function isWellFormed(json: unknown): boolean {
  const text = JSON.stringify(json)
  return !/\\u0000/.test(text) && !/\\ud[89a-f]/i.test(text)
}
