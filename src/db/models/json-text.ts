const rows = new WeakSet<object>()

/** Notes rows, alone or in lists, in which JSON is still text: SQLite does not tell which columns of a program's own statement hold it. */
export function noteJsonText(result: unknown): void {
  for (const row of [result].flat(2) as unknown[]) if (typeof row === 'object' && row !== null) rows.add(row)
}

/** The row with the JSON of these columns read, where it is still text. */
export function withoutJsonText(row: object, columns: () => readonly string[]): object {
  if (!rows.has(row)) return row
  const values = row as Readonly<Record<string, unknown>>
  return { ...values, ...Object.fromEntries(columns().map((name) => [name, parsed(values[name])])) }
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
