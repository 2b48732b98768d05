import { parseCookie } from 'cookie'

export const FORM = 'application/x-www-form-urlencoded'

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
