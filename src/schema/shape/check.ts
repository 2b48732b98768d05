/** A rule that JSON Schema cannot express, for JSON values of the right type. It is not called for null. */
export interface Check {
  readonly accepts: (json: unknown) => boolean
  /** Why the value is refused: 'must be a URL'. */
  readonly message: string
}

// Validators are compiled from JSON Schema, which holds only data, no functions: a schema refers to a check by a number.
const checks: Check[] = []
const ids = new Map<Check, number>()

export function idOf(check: Check): number {
  const id = ids.get(check) ?? checks.push(check) - 1
  ids.set(check, id)
  return id
}

/** The messages of the checks that refuse a value. */
export function failuresOf(checkIds: readonly number[], json: unknown): readonly string[] {
  if (json === null) return []
  return checkIds.flatMap((id) => {
    const check = checks[id]
    return !check || check.accepts(json) ? [] : check.message
  })
}
