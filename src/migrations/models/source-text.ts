/*
 * Reads as much of a TypeScript file as it takes to add to it.
 */

/**
 * The text with spaces instead of comments, and of what is in strings, templates and regular expressions: what remains is code, at the same
 * positions.
 */
export function maskedCode(text: string): string {
  let masked = ''
  while (masked.length < text.length) {
    const end = endOfLiteral(text, masked)
    if (end === undefined) masked += text[masked.length]
    else masked += text.slice(masked.length, end).replaceAll(/[^\n]/g, ' ')
  }
  return masked
}

/** The end of the comment or literal that begins after the masked text; undefined for code. */
function endOfLiteral(text: string, masked: string): number | undefined {
  const at = masked.length
  const [first, second] = [text[at], text[at + 1]]
  if (first === '/' && second === '/') return endAt(text, text.indexOf('\n', at))
  if (first === '/' && second === '*') return endAt(text, text.indexOf('*/', at + 2), 2)
  if (first === "'" || first === '"' || first === '`') return endOfQuoted(text, at, first)
  return first === '/' && mayBeginRegex(masked) ? endOfRegex(text, at) : undefined
}

function endAt(text: string, found: number, length = 0): number {
  return found < 0 ? text.length : found + length
}

function endOfQuoted(text: string, from: number, quote: string): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === quote) return at + 1
    else if (quote === '`' && text.startsWith('${', at)) at = endOfPlaceholder(text, at + 2)
  }
  return text.length
}

/** The position of the brace that closes a placeholder of a template. */
function endOfPlaceholder(text: string, from: number): number {
  let depth = 1
  for (let at = from; at < text.length; at++) {
    const character = text[at] ?? ''
    if (character === '`' || character === "'" || character === '"') at = endOfQuoted(text, at, character) - 1
    else if (character === '{') depth++
    else if (character === '}' && --depth === 0) return at
  }
  return text.length
}

// After a value, a slash divides.
function mayBeginRegex(masked: string): boolean {
  const last = lastCode(masked)
  return last === '' || '(,=:[!&|?{};+-*%<>~^\n'.includes(last) || /\breturn$/.test(masked.slice(-16).trimEnd())
}

function lastCode(masked: string): string {
  let at = masked.length - 1
  while (at >= 0 && (masked[at] === ' ' || masked[at] === '\n')) at--
  return masked[at] ?? ''
}

function endOfRegex(text: string, from: number): number | undefined {
  let inClass = false
  for (let at = from + 1; at < text.length && text[at] !== '\n'; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '[') inClass = true
    else if (text[at] === ']') inClass = false
    else if (text[at] === '/' && !inClass) return at + 1
  }
  return undefined
}

/** The position of the bracket that closes the one at `open`; the end of the text if there is none. */
export function closingBracket(masked: string, open: number): number {
  let depth = 0
  for (let at = open; at < masked.length; at++) {
    if ('([{'.includes(masked[at] ?? ' ')) depth++
    else if (')]}'.includes(masked[at] ?? ' ') && --depth === 0) return at
  }
  return masked.length
}

/** The string that begins after a position, with its quotes removed; undefined for anything else. */
export function stringAfter(text: string, masked: string, from: number): string | undefined {
  let at = from
  while (text[at] === ' ' || text[at] === '\n') at++
  const quote = text[at]
  if ((quote !== "'" && quote !== '"') || masked[at] !== ' ') return undefined
  const inside = text.slice(at + 1, endOfQuoted(text, at, quote) - 1)
  return inside.replaceAll(/\\(.)/g, '$1')
}
