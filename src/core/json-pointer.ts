/*
 * JSON Pointers (RFC 6901): `/heroes/0/age` is a path into a value.
 */

/** Escapes a key as one part of a JSON Pointer: `a/b` -> `a~1b`. */
export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The key that a part of a JSON Pointer names: `a~1b` -> `a/b`. */
export function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}
