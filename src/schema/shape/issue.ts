/** A mistake in one value of an input. `path` is a JSON Pointer to it: `/heroes/0/age`. */
export interface Issue {
  readonly path: string
  readonly message: string
  /** The keyword of JSON Schema that the value does not satisfy, such as `minLength`; undefined for rules that JSON Schema does not have. */
  readonly rule?: string
  /** The parameters of the rule: `{ limit: 3 }`. */
  readonly params?: Readonly<Record<string, unknown>>
}

/** The most issues in a response: more help no reader, and cost time and bandwidth. */
export const MAX_ISSUES = 100

/** The most characters of a list of values in a message: each of the issues may repeat it. */
const MAX_LISTED_LENGTH = 300

/** The values as JSON, for a message; of a long list, the first ones and how many more there are. */
export function listValues(values: readonly unknown[]): string {
  let length = 0
  const shown: string[] = []
  for (const value of values) {
    const text = String(JSON.stringify(value))
    if ((length += text.length + 2) > MAX_LISTED_LENGTH && shown.length > 0) break
    shown.push(text)
  }
  const others = values.length - shown.length
  return shown.join(', ') + (others > 0 ? ` or ${others} other values` : '')
}
