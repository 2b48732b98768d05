import { createHash } from 'node:crypto'

/** As many texts as a process keeps the names of. */
const MOST_KEPT = 1_000

/** The least recently named first. */
const names = new Map<string, string>()

/**
 * The name under which connections prepare a text; undefined for a text with values in it, which hardly comes again.
 *
 * The name is made of the text alone: where several clients share a connection, as behind a pooler, one name never means two statements.
 *
 * @param isConstant whether all of the text is the program's own, also the literals in it.
 */
export function statementName(text: string, isConstant: boolean): string | undefined {
  if (!isConstant && VALUE.test(text)) return undefined
  const name = names.get(text) ?? `sequitur_${createHash('sha256').update(text).digest('base64url')}`
  names.delete(text)
  names.set(text, name)
  if (names.size > MOST_KEPT) names.delete(names.keys().next().value ?? '')
  return name
}

/** A quote, or a digit that is part of no name and no placeholder. Of what stands behind LIMIT there are only a few. */
const VALUE = /'|\$\D|[^\w$"]\d(?<!\bLIMIT \d)/
