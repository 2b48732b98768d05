/**
 * A pattern that matches without flags what `source` matches with the flag `i`: `a[0-9]` becomes `[aA][0-9]`. Undefined for patterns with
 * non-ASCII characters, named groups or character codes.
 */
export function caseInsensitive(source: string): string | undefined {
  if (/[^\x20-\x7e]|\\[^dDsSwWbB\\^$.*+?()[\]{}|/]|\(\?[^:=!]/.test(source)) return undefined
  const classes = source.match(PARTS)?.filter((one) => one.startsWith('[')) ?? []
  if (classes.some((one) => /\\.-[^\]]|-\\/.test(one))) return undefined // a range from or to an escaped character
  return source.replaceAll(PARTS, (part) => {
    if (part.startsWith('[')) return part.replaceAll(/\\.|([^\\])-([^\]\\])|[A-Za-z]/g, withOtherCase)
    return part.startsWith('\\') ? part : `[${withOtherCase(part)}]`
  })
}

/** Escaped characters, character classes and single letters. */
const PARTS = /\\.|\[(?:\\.|[^\]\\])*\]|[A-Za-z]/g

function withOtherCase(part: string, from?: string, to?: string): string {
  if (part.startsWith('\\')) return part
  if (from === undefined || to === undefined) return part + otherCase(part)
  const within = (letters: string) => [...letters].filter((letter) => letter >= from && letter <= to)
  const ranges = [within(LETTERS), within(LETTERS.toUpperCase())].flatMap((letters) => {
    const [first, last] = [letters[0], letters.at(-1)]
    return first === undefined || last === undefined ? [] : [`${otherCase(first)}-${otherCase(last)}`]
  })
  return part + ranges.join('')
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

function otherCase(letter: string): string {
  return letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
}
