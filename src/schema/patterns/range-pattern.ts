/*
 * Bounds of numbers that JSON has as text, as regular expressions: JSON Schema knows no others of a text. A number is written in the
 * grammar of grammar.ts, an optional '-' before it; how many digits there may be is not said here.
 */

const MORE = '(?:\\.[0-9]+)?'

/** Matches each number that is not less than the bound, `12.5`; undefined for a bound that is not written in digits. */
export function atLeastPattern(bound: string): string | undefined {
  const number = partsOf(bound)
  if (!number) return undefined
  return number.negative
    ? `^(?:[0-9]+${MORE}|-(?:${atMost(number)}))$`
    : `^(?:${isZero(number) ? '-0(?:\\.0+)?|' : ''}${atLeast(number)})$`
}

/** Matches each number that is not greater than the bound. */
export function atMostPattern(bound: string): string | undefined {
  const number = partsOf(bound)
  if (!number) return undefined
  return number.negative && !isZero(number) ? `^-(?:${atLeast(number)})$` : `^(?:-[0-9]+${MORE}|${atMost(number)})$`
}

interface Parts {
  readonly negative: boolean
  readonly whole: string
  /** Without zeros at the end. */
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

/** Numbers of as many digits that differ from this one first in one place, for each place in which they can. */
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

/** '.1' and '.12' are not more than '.123'. */
function startsOf(fraction: string): string[] {
  return [...fraction].slice(0, -1).map((_, index) => fraction.slice(0, index + 1))
}

function range(least: number, most: number): string | undefined {
  return least > most ? undefined : least === most ? String(least) : `[${least}-${most}]`
}
