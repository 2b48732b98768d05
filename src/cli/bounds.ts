import type { Json } from './json.js'

/** Which way a schema's values go: what clients send may become wider, what they are sent may become narrower. */
export type Side = 'input' | 'output'

/** Whether all that fits the narrow bound fits the wide one; a missing bound is undefined. */
type Within = (narrow: number, wide: number) => boolean

const atLeast: Within = (narrow, wide) => narrow >= wide
const atMost: Within = (narrow, wide) => narrow <= wide

const OF_NUMBERS: readonly (readonly [inclusive: string, exclusive: string, within: Within])[] = [
  ['minimum', 'exclusiveMinimum', atLeast],
  ['maximum', 'exclusiveMaximum', atMost],
]

const OF_SIZES: Readonly<Record<string, readonly (readonly [keyword: string, within: Within])[]>> = {
  string: [
    ['minLength', atLeast],
    ['maxLength', atMost],
  ],
  array: [
    ['minItems', atLeast],
    ['maxItems', atMost],
  ],
  object: [
    ['minProperties', atLeast],
    ['maxProperties', atMost],
  ],
}

/** What is no longer within its bounds, for clients that send, or are sent, values of the type. */
export function boundChanges(before: Json, after: Json, type: string | undefined, side: Side): string[] {
  const [narrow, wide] = side === 'input' ? [before, after] : [after, before]
  const keywords = [
    ...(type === 'integer' || type === 'number' ? numbersOutside(narrow, wide) : []),
    ...(OF_SIZES[type ?? ''] ?? []).flatMap(([keyword, within]) =>
      isOutside(narrow[keyword], wide[keyword], within) ? [[keyword]] : [],
    ),
    ...(type === 'string' ? ['pattern', 'format'] : [])
      .filter((keyword) => wide[keyword] !== undefined && wide[keyword] !== narrow[keyword])
      .map((keyword) => [keyword]),
    ...(wide['uniqueItems'] === true && narrow['uniqueItems'] !== true ? [['uniqueItems']] : []),
  ]
  return keywords.map((all) => `${said(before, all)} became ${said(after, all)}`)
}

function numbersOutside(narrow: Json, wide: Json): string[][] {
  const bounds = OF_NUMBERS.filter(
    ([inclusive, exclusive, within]) =>
      isOutside(tightest(narrow, inclusive, exclusive, within), wide[inclusive], within) ||
      isOutsideOpen(narrow, wide, inclusive, exclusive, within),
  ).map(([inclusive, exclusive]) => [inclusive, exclusive])
  const [step, stepNow] = [narrow['multipleOf'], wide['multipleOf']] as (number | undefined)[]
  const isFiner = stepNow !== undefined && (step === undefined || !Number.isInteger(step / stepNow))
  return isFiner ? [...bounds, ['multipleOf']] : bounds
}

function isOutside(narrow: unknown, wide: unknown, within: Within): boolean {
  return typeof wide === 'number' && !(typeof narrow === 'number' && within(narrow, wide))
}

// What is bounded without the bound itself lies within a bound that is further out, or excluded just so.
function isOutsideOpen(narrow: Json, wide: Json, inclusive: string, exclusive: string, within: Within): boolean {
  const bound = wide[exclusive]
  if (typeof bound !== 'number') return false
  const { [inclusive]: closed, [exclusive]: open } = narrow as Record<string, number | undefined>
  return !(
    (open !== undefined && within(open, bound)) ||
    (closed !== undefined && closed !== bound && within(closed, bound))
  )
}

function tightest(schema: Json, inclusive: string, exclusive: string, within: Within): unknown {
  const [closed, open] = [schema[inclusive], schema[exclusive]]
  if (typeof closed !== 'number') return open
  return typeof open === 'number' && within(open, closed) ? open : closed
}

function said(schema: Json, keywords: readonly string[]): string {
  const present = keywords.filter((keyword) => schema[keyword] !== undefined)
  return present.map((keyword) => `${keyword} ${String(schema[keyword])}`).join(' and ') || `no ${keywords[0]}`
}
