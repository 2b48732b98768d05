/*
 * Minimum and maximum of numbers that are written as strings, as regular expressions: JSON Schema has no other bounds of strings. The
 * numbers are those of text-formats.ts, with any number of digits.
 */

const MORE = '(?:\\.[0-9]+)?'

/** Matches the numbers from `bound` upwards, such as '12.5'; undefined if the bound is not a decimal. */
export function atLeastPattern(bound: string): string | undefined {
  const number = partsOf(bound)
  if (!number) return undefined
  return number.negative
    ? `^(?:[0-9]+${MORE}|-(?:${atMost(number)}))$`
    : `^(?:${isZero(number) ? '-0(?:\\.0+)?|' : ''}${atLeast(number)})$`
}

/** Matches the numbers up to `bound`; undefined if the bound is not a decimal. */
export function atMostPattern(bound: string): string | undefined {
  const number = partsOf(bound)
  if (!number) return undefined
  return number.negative && !isZero(number) ? `^-(?:${atLeast(number)})$` : `^(?:-[0-9]+${MORE}|${atMost(number)})$`
}

interface Parts {
  readonly negative: boolean
  readonly whole: string
  /** Without trailing zeros. */
  readonly fraction: string
}

function partsOf(bound: string): Parts | undefined {
  const [, sign, whole, fraction = ''] = /^(-?)0*([0-9]+)(?:\.([0-9]+))?$/.exec(bound) ?? []
  return whole === undefined ? undefined : { negative: sign === '-', whole, fraction: fraction.replace(/0+$/, '') }
}

function isZero({ whole, fraction }: Parts): boolean {
  return whole === '0' && fraction === ''
}

function atLeast({ whole, fraction }: Parts): string {
  const more = `[1-9][0-9]{${whole.length},}${MORE}`
  const greater = differing(whole, (digit) => range(digit + 1, 9)).map((text) => text + MORE)
  const end = fraction === '' ? MORE : `\\.(?:${[...fractionsOver(fraction), `${fraction}[0-9]*`].join('|')})`
  return [more, ...greater, whole + end].join('|')
}

function atMost({ whole, fraction }: Parts): string {
  const fewer = whole.length > 1 ? [`(?:0|[1-9][0-9]{0,${whole.length - 2}})${MORE}`] : []
  const least = (index: number) => (index === 0 && whole.length > 1 ? 1 : 0)
  const less = differing(whole, (digit, index) => range(least(index), digit - 1)).map((text) => text + MORE)
  const ends = [...fractionsUnder(fraction), ...startsOf(fraction), `${fraction}0*`].filter((text) => text !== '0*')
  const end = fraction === '' ? '(?:\\.0+)?' : `(?:\\.(?:${ends.join('|')}))?`
  return [...fewer, ...less, whole + end].join('|')
}

/** For each digit, the numbers of the same length that are equal before it, and have one of the `other` digits there. */
function differing(digits: string, other: (digit: number, index: number) => string | undefined): string[] {
  return [...digits].flatMap((digit, index) => {
    const others = other(Number(digit), index)
    const rest = digits.length - index - 1
    return others === undefined ? [] : digits.slice(0, index) + others + (rest > 0 ? `[0-9]{${rest}}` : '')
  })
}

function fractionsOver(fraction: string): string[] {
  return prefixes(fraction, (digit) => range(digit + 1, 9))
}

function fractionsUnder(fraction: string): string[] {
  return prefixes(fraction, (digit) => range(0, digit - 1))
}

function prefixes(fraction: string, other: (digit: number) => string | undefined): string[] {
  return [...fraction].flatMap((digit, index) => {
    const others = other(Number(digit))
    return others === undefined ? [] : `${fraction.slice(0, index)}${others}[0-9]*`
  })
}

/** '.1' and '.12', which are less than '.123'. */
function startsOf(fraction: string): string[] {
  return [...fraction].slice(0, -1).map((_, index) => fraction.slice(0, index + 1))
}

function range(least: number, most: number): string | undefined {
  return least > most ? undefined : least === most ? String(least) : `[${least}-${most}]`
}
