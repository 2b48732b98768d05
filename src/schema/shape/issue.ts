/** What is wrong with an input, and where: `path` is a JSON Pointer into the value. */
export interface Issue {
  readonly path: string
  readonly message: string
}
