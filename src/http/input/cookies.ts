import { parseCookie } from 'cookie'

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
