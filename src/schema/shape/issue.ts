/** What is wrong with one value of an input. `path` is a JSON Pointer to it: `/heroes/0/age`. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/** Escapes a key as one part of a JSON Pointer: `a/b` -> `a~1b`. */
export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
