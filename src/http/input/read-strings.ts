import type { IncomingHttpHeaders } from 'node:http'
import { type ObjectShape, propertiesOf, type Shape } from '../../schema/shape/shape.js'
import { parseString } from '../../schema/input/parse-string.js'
import type { InputLocation } from './parameter-type.js'
import { parseCookie } from 'cookie'

/** Where the strings of path, query, headers and cookies are. */
export interface StringSource {
  readonly request: {
    readonly query: ReadonlyMap<string, readonly string[]>
    readonly headers: IncomingHttpHeaders
    readonly cookies: ReadonlyMap<string, string>
  }
  readonly variables: Readonly<Record<string, string>>
}

/** Reads a value as JSON; undefined when the client did not send it. */
export type ReadString = (source: StringSource) => unknown

type StringLocation = Exclude<InputLocation, 'body'>

/** Reads an object whose properties are inputs of their own, with the names that `nameOf` returns. */
export function objectReader(location: StringLocation, nameOf: (property: string) => string, shape: ObjectShape) {
  const readers = propertiesOf(shape, 'input').map(
    ([property, { shape: inner }]) => [property, stringReader(location, nameOf(property), inner)] as const,
  )
  const claims = location === 'query' ? shape.inQuery?.claims : undefined
  const known = new Set(readers.map(([property]) => property))
  return (source: StringSource): Readonly<Record<string, unknown>> => {
    const values = readers.map(([property, read]) => [property, read(source)] as const)
    const sent = values.filter(([, value]) => value !== undefined)
    if (!claims) return Object.fromEntries(sent)
    // Validation refuses them.
    const unknown = [...source.request.query].filter(([name]) => !known.has(name) && claims(name))
    return Object.fromEntries([...unknown, ...sent])
  }
}

export function stringReader(location: StringLocation, name: string, shape: Shape): ReadString {
  switch (location) {
    case 'path':
      return ({ variables }) => parseString(shape, variables[name] as string) // the router has matched every variable of the route
    case 'query':
      return shape.kind === 'object'
        ? nestedReader(name, shape)
        : ({ request }) => readStrings(shape, request.query.get(name))
    case 'header': {
      const valuesOf = shape.kind === 'array' ? splitAtCommas : asList
      return ({ request }) => readStrings(shape, valuesOf(request.headers[name]))
    }
    case 'cookie':
      return ({ request }) => readStrings(shape, asList(request.cookies.get(name)))
  }
}

// ?age[from]=20&age[to]=30, which OpenAPI calls deepObject. A value that its schema does not allow, such as ?age=20 or ?age[other]=1, is read
// unchanged: validation refuses it. An object without any sent property counts as not sent.
function nestedReader(name: string, shape: ObjectShape): ReadString {
  const read = objectReader('query', (property) => `${name}[${property}]`, shape)
  const known = propertiesOf(shape, 'input').map(([property, { shape: inner }]) => {
    const own = `${name}[${property}]`
    return (key: string) => key === own || (inner.kind === 'object' && key.startsWith(`${own}[`))
  })
  return (source) => {
    const { query } = source.request
    const plain = query.get(name)
    if (plain) return readStrings(shape, plain)
    const others = [...query].filter(([key]) => key.startsWith(`${name}[`) && !known.some((isKnown) => isKnown(key)))
    const unknown = others.map(([key, strings]) => [key.slice(name.length + 1).replace(/\]$/, ''), strings] as const)
    const object = { ...Object.fromEntries(unknown), ...read(source) }
    return Object.keys(object).length > 0 ? object : undefined
  }
}

// Node joins repeated headers: 'x-tag: a' and 'x-tag: b' arrive as 'a, b'.
function splitAtCommas(value: string | string[] | undefined): readonly string[] | undefined {
  return asList(value)?.flatMap((text) => text.split(',').map((part) => part.trim()))
}

function asList(value: string | string[] | undefined): readonly string[] | undefined {
  return value === undefined ? undefined : [value].flat()
}

/** Reads the values of one name. A repeated one is a list: if its type is not a list, validation refuses that. */
export function readStrings(shape: Shape, strings: readonly string[] | undefined): unknown {
  if (strings === undefined) return undefined
  if (shape.kind === 'array') {
    const items = shape.commas ? strings.flatMap((string) => string.split(',')) : strings
    return items.map((string) => parseString(shape.items, string))
  }
  const [first, ...others] = strings
  return first !== undefined && others.length === 0 ? parseString(shape, first) : strings
}

export const FORM = 'application/x-www-form-urlencoded'

/** The values of a query or a form by name, most of which have nothing to decode. @param decode decodes the percent-encoding. */
export function parseFields(text: string, decode: (text: string) => string): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>()
  const decodes = /[%+]/.test(text)
  for (let start = 0; start < text.length;) {
    const separator = text.indexOf('&', start)
    const end = separator < 0 ? text.length : separator
    if (end > start) addField(fields, text.slice(start, end), decodes ? decode : undefined)
    start = end + 1
  }
  return fields
}

function addField(fields: Map<string, string[]>, pair: string, decode: ((text: string) => string) | undefined): void {
  const equals = pair.indexOf('=')
  let name = equals < 0 ? pair : pair.slice(0, equals)
  let value = equals < 0 ? '' : pair.slice(equals + 1)
  if (decode) {
    name = decode(name.replaceAll('+', ' '))
    value = decode(value.replaceAll('+', ' '))
  }
  const known = fields.get(name)
  if (known) known.push(value)
  else fields.set(name, [value])
}

const NO_COOKIES: ReadonlyMap<string, string> = new Map()

/** The cookies of a `cookie` header by name, decoded. Of several with one name, the first one: browsers send the most specific one first. */
export function cookiesOf(header: string | undefined): ReadonlyMap<string, string> {
  if (header === undefined) return NO_COOKIES
  return new Map(Object.entries(parseCookie(header, { decode }) as Record<string, string>)) // `decode` returns a string for each
}

// A cookie may come from other programs of the same site: one that is not percent-encoded is read as it is.
function decode(text: string): string {
  const value = /^".*"$/s.test(text) ? text.slice(1, -1) : text
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
