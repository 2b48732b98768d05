import { BadRequest, PayloadTooLarge } from '../errors.js'
import { decodeUtf8, type JsonBody } from './json.js'

export const FORM = 'application/x-www-form-urlencoded'

/** The fields that a form may have. */
const MAX_FIELDS = 1000

/** Parses the bytes of a form as the JSON that its class declares. */
export type ParseForm = (bytes: Buffer) => JsonBody

/** The values of a form by name. @throws PayloadTooLarge for too many fields, BadRequest for what is not UTF-8 or not percent-encoded. */
export function fieldsOf(bytes: Buffer): ReadonlyMap<string, readonly string[]> {
  refuseMoreFields(bytes)
  return parseFields(decodeUtf8(bytes), decodePart)
}

const AMPERSAND = '&'.charCodeAt(0)

function refuseMoreFields(bytes: Buffer): void {
  let fields = 1
  for (let at = bytes.indexOf(AMPERSAND); at >= 0; at = bytes.indexOf(AMPERSAND, at + 1))
    if (++fields > MAX_FIELDS) throw new PayloadTooLarge(`The body has more than ${MAX_FIELDS} fields.`)
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new BadRequest('The body has an invalid percent-encoding.', { cause })
  }
}

/** The values of a query or a form by name. @param decode decodes the percent-encoding. */
export function parseFields(text: string, decode: (text: string) => string): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>()
  for (let start = 0; start < text.length;) {
    const separator = text.indexOf('&', start)
    const end = separator < 0 ? text.length : separator
    if (end > start) addField(fields, text.slice(start, end), decode)
    start = end + 1
  }
  return fields
}

function addField(fields: Map<string, string[]>, pair: string, decode: (text: string) => string): void {
  const equals = pair.indexOf('=')
  const name = decode(withSpaces(equals < 0 ? pair : pair.slice(0, equals)))
  const value = equals < 0 ? '' : decode(withSpaces(pair.slice(equals + 1)))
  const known = fields.get(name)
  if (known) known.push(value)
  else fields.set(name, [value])
}

function withSpaces(text: string): string {
  return text.includes('+') ? text.replaceAll('+', ' ') : text
}
