/*
 * Values as they are written in TypeScript.
 */

/** A string literal, in the quotes that need fewer escapes. */
export function quoted(text: string): string {
  const quote = text.split("'").length > text.split('"').length ? '"' : "'"
  const escaped = Array.from(text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`), escapeControl).join('')
  return `${quote}${escaped}${quote}`
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escapeControl(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const isPlain = code >= 0x20 && code !== 0x7f && !/[\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Cc}]/u.test(character)
  return isPlain ? character : (ESCAPES[character] ?? escapedCode(code))
}

function escapedCode(code: number): string {
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`
}

/** The lines of a comment, which no text can end. */
export function commentLines(text: string): string[] {
  const safe = text.replaceAll('*/', '* /')
  return safe
    .split(/[\r\n\u2028\u2029]/)
    .map((line) =>
      Array.from(line, (character) => escapeControl(character))
        .join('')
        .trim(),
    )
    .filter((line) => line !== '')
}

/** `{ a: 1, b }` in one line. */
export function objectText(members: readonly string[]): string {
  return `{ ${members.join(', ')} }`
}
