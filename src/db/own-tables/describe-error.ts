const MAX_ERROR = 200

/** For a row: the name and the code of an error, and the id of its entry in the log, if it has one. No message: it may have values of rows. */
export function describeForRow(error: unknown, entry?: string): string {
  const { name, code } = factsOf(error)
  const text = [name, code, entry && `(log ${entry})`].filter((part) => part !== undefined).join(' ')
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, MAX_ERROR)
}

// A program may throw anything: a getter or a Proxy that throws would end the process.
function factsOf(error: unknown): { readonly name: string; readonly code: string | undefined } {
  try {
    return readFacts(error)
  } catch {
    return { name: 'an error that cannot be read', code: undefined }
  }
}

function readFacts(error: unknown): { readonly name: string; readonly code: string | undefined } {
  if (!(error instanceof Error)) return { name: typeof error, code: undefined }
  const { original, code }: Error & { readonly original?: unknown; readonly code?: unknown } = error
  const ofDriver: unknown = original instanceof Error && 'code' in original ? original.code : undefined
  const text = ofDriver ?? code
  return {
    name: String(error.name),
    code: typeof text === 'string' || typeof text === 'number' ? String(text) : undefined,
  }
}
