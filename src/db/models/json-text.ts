const marked = new WeakSet<object>()

/** Marks a row, or a list of rows, whose JSON columns may still be strings: for raw SQL, SQLite does not report which columns hold JSON. */
export function markJsonAsText(result: unknown): void {
  const rows: readonly unknown[] = [result].flat(2)
  for (const row of rows) if (typeof row === 'object' && row !== null) marked.add(row)
}

/** A copy of a marked row with these columns parsed; any other row as it is. */
export function withParsedJson(row: object, columns: () => readonly string[]): object {
  if (!marked.has(row)) return row
  const copy: Record<string, unknown> = { ...row }
  for (const name of columns()) copy[name] = parsed(copy[name])
  return copy
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
