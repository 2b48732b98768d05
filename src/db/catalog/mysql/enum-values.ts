const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '0': '\0' }

/** @returns the values of `enum('a','it''s')`; undefined for another type. */
export function enumValuesOf(type: string): readonly string[] | undefined {
  const begin = 'enum('
  if (!type.toLowerCase().startsWith(begin)) return undefined
  const values: string[] = []
  for (let at = begin.length; type[at] === "'"; at++) {
    let value = ''
    for (at++; type[at] !== "'" || type[at + 1] === "'"; at++) {
      if (at >= type.length) return values
      if (type[at] === "'") value += type[++at]
      else if (type[at] === '\\') value += ESCAPED[type[++at] ?? ''] ?? type[at] ?? ''
      else value += type[at]
    }
    values.push(value)
    at++ // the comma
  }
  return values
}
