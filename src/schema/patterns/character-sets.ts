/*
 * The sets of characters that the classes of a pattern match, so that they can be intersected. The engine itself finds what a class matches.
 */

/** The characters of a set, one bit for each kind of character that the pattern distinguishes. */
export type Characters = bigint

/** Any character. */
export const ANY = '[^]'

/** The sets of several classes of one pattern, in their order. Two sets have a bit in common if, and only if, a character is in both. */
export function characterSets(sources: readonly string[], flags: string): Characters[] {
  const distinct = [...new Set(sources)]
  const points = [...new Set(distinct.flatMap((source) => [...startsOf(source, flags)]).concat(EVERYWHERE))]
  const samples = isUnicode(flags) ? points : points.filter((point) => point.length === 1)
  const tests = distinct.map((source) => testOf(source, flags))
  const kinds = [...new Set(samples.map((sample) => tests.map((test) => (test(sample) ? '1' : '0')).join('')))]
  const sets = new Map(
    distinct.map((source, index) => [source, BigInt(`0b${kinds.map((kind) => kind[index]).join('')}`)]),
  )
  return sources.map((source) => sets.get(source) as bigint) // `sets` has all sources
}

function isUnicode(flags: string): boolean {
  return /[uv]/.test(flags)
}

function testOf(source: string, flags: string): (character: string) => boolean {
  if (source === ANY) return () => true
  const expression = new RegExp(`^(?:${source})$`, flags.replaceAll(/[dgmy]/g, ''))
  return (character) => expression.test(character)
}

// If a character is in two sets, then so is the first one of the later of the two ranges that contain it. The first characters of all ranges
// are therefore enough as samples. Ranges that are written in the source begin next to a character of the source.
function startsOf(source: string, flags: string): Iterable<string> {
  if (source === ANY) return []
  const written = writtenStarts(source, flags)
  return isWritten(source, flags) ? written : [...written, ...knownStarts(source, flags)]
}

/** Whether the source shows its ranges: not with properties, nor with upper and lower case of characters beyond ASCII. */
function isWritten(source: string, flags: string): boolean {
  if (source.startsWith('(?') || (isUnicode(flags) && /\\p/i.test(source))) return false
  return !flags.includes('i') || !/[^\0-\x7f]|\\[ux]/.test(source)
}

const CODES = /\\u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|\\(?:u\{([\da-f]+)\}|u([\da-f]{4})|x([\da-f]{2}))/gi

function writtenStarts(source: string, flags: string): string[] {
  const codes = [...source.matchAll(CODES)].map(([, high, low, ...others]) =>
    high && low
      ? String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16))
      : String.fromCodePoint(Math.min(Number.parseInt(others.find(Boolean) ?? '0', 16), MAX_CODE_POINT)),
  )
  return [...(isUnicode(flags) ? source : source.split('')), ...codes].flatMap(neighbours)
}

const MAX_CODE_POINT = 0x10ffff

function neighbours(character: string): string[] {
  const code = character.codePointAt(0) ?? 0
  return [code, code + 1].filter((one) => one <= MAX_CODE_POINT).map((one) => String.fromCodePoint(one))
}

/** Where the ranges of `\s`, `\w`, `\d`, `.` and of their complements begin, also with the flag `i`; the surrogates; all of Latin-1. */
const EVERYWHERE: readonly string[] = [
  ...charactersBetween(0, 0x100),
  ...'\u017f\u0180\u1680\u1681\u2000\u200b\u2028\u202a\u202f\u2030\u205f\u2060\u212a\u212b\u3000\u3001\ud800\udc00\ue000\ufeff\uff00\u{10000}',
]

const known = new Map<string, readonly string[]>()

function knownStarts(source: string, flags: string): readonly string[] {
  const key = `${flags.replaceAll(/[^iuv]/g, '')} ${source}`
  const starts = known.get(key) ?? foundStarts(source, flags)
  known.set(key, starts)
  return starts
}

/** Looks at every character. */
function foundStarts(source: string, flags: string): string[] {
  const all = isUnicode(flags) ? allCodePoints() : allCodeUnits()
  const range = new RegExp(`(?:${source})+`, `g${flags.replaceAll(/[dgmy]/g, '')}`)
  const starts = [...all.matchAll(range)].flatMap(({ index, 0: { length } }) => [
    all.codePointAt(index),
    all.codePointAt(index + length),
  ])
  return starts.filter((code) => code !== undefined).map((code) => String.fromCodePoint(code))
}

let everyCodePoint: string | undefined

// In the planes 4 to 13, which have no characters, and 15 and 16, which are for private use, all code points have the same properties, but
// for the last two.
function allCodePoints(): string {
  everyCodePoint ??= [
    allCodeUnits(),
    charactersBetween(0x10000, 0x3ffff),
    ...[4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map(endsOfPlane),
    charactersBetween(0xe0000, 0xeffff),
    ...[15, 16].map(endsOfPlane),
  ].join('')
  return everyCodePoint
}

// The low surrogates are before the high ones, so that no two of them are read as one character.
function allCodeUnits(): string {
  const ranges = [
    [0, 0xd7ff],
    [0xdc00, 0xdfff],
    [0xd800, 0xdbff],
    [0xe000, 0xffff],
  ] as const
  return ranges.map(([first, last]) => charactersBetween(first, last)).join('')
}

function endsOfPlane(plane: number): string {
  return charactersBetween(plane << 16, plane << 16) + charactersBetween((plane << 16) + 0xfffd, (plane << 16) + 0xffff)
}

function charactersBetween(first: number, last: number): string {
  return Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)).join('')
}
