/**
 * A pattern without flags that takes what this one takes with the flag `i`; undefined where that is not simple: beyond ASCII, and for named groups
 * and codes of characters.
 */
export function caseInsensitive(source: string): string | undefined {
  if (/[^\x20-\x7e]|\\[^dDsSwWbB\\^$.*+?()[\]{}|/]|\(\?[^:=!]/.test(source)) return undefined
  const classes = source.match(CLASSES)?.filter((one) => one.startsWith('[')) ?? []
  if (classes.some((one) => /\\.-[^\]]|-\\/.test(one))) return undefined // a range that an escaped sign begins or ends
  return source.replaceAll(CLASSES, (part) => {
    if (part.startsWith('[')) return part.replaceAll(/\\.|([^\\])-([^\]\\])|[A-Za-z]/g, withOtherCase)
    return part.startsWith('\\') ? part : `[${withOtherCase(part)}]`
  })
}

/** Escaped signs, classes of signs, and single letters. */
const CLASSES = /\\.|\[(?:\\.|[^\]\\])*\]|[A-Za-z]/g

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
