/** A rule of the program's own about a JSON value of the right type; null is not asked about. */
export interface Check {
  readonly accepts: (json: unknown) => boolean
  /** What is wrong with a value that is not accepted: 'must be a URL'. */
  readonly message: string
}

// JSON Schema, in which validation is written down, has no functions: there they stand as numbers.
const checks: Check[] = []
const numbers = new Map<Check, number>()

export function idOf(check: Check): number {
  const known = numbers.get(check) ?? checks.push(check) - 1
  numbers.set(check, known)
  return known
}

/** The messages of the checks that do not accept a value. */
export function failuresOf(numbered: readonly number[], json: unknown): readonly string[] {
  if (json === null) return []
  return numbered
    .map((number) => checks[number] as Check) // these numbers were all given here
    .flatMap(({ accepts, message }) => (accepts(json) ? [] : [message]))
}
