import type { Json } from './json.js'

/** Whether the API receives or sends a value. Clients break if an input accepts fewer values, or if an output returns more. */
export type Direction = 'input' | 'output'

/** Whether the values within the narrow bound are within the wide one. */
type Within = (narrow: number, wide: number) => boolean

const atLeast: Within = (narrow, wide) => narrow >= wide
const atMost: Within = (narrow, wide) => narrow <= wide

const NUMBER_BOUNDS: readonly (readonly [inclusive: string, exclusive: string, within: Within])[] = [
  ['minimum', 'exclusiveMinimum', atLeast],
  ['maximum', 'exclusiveMaximum', atMost],
]

const SIZE_BOUNDS: Readonly<Record<string, readonly (readonly [keyword: string, within: Within])[]>> = {
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

/** The bounds whose change breaks clients that send, or receive, values of the type. */
export function boundChanges(before: Json, after: Json, type: string | undefined, direction: Direction): string[] {
  const [narrow, wide] = direction === 'input' ? [before, after] : [after, before]
  const keywords = [
    ...(type === 'integer' || type === 'number' ? numbersOutside(narrow, wide) : []),
    ...(SIZE_BOUNDS[type ?? ''] ?? []).flatMap(([keyword, within]) =>
      isOutside(narrow[keyword], wide[keyword], within) ? [[keyword]] : [],
    ),
    ...(type === 'string' ? ['pattern', 'format'] : [])
      .filter((keyword) => wide[keyword] !== undefined && wide[keyword] !== narrow[keyword])
      .map((keyword) => [keyword]),
    ...(wide['uniqueItems'] === true && narrow['uniqueItems'] !== true ? [['uniqueItems']] : []),
  ]
  return keywords.map((changed) => `${describeBounds(before, changed)} became ${describeBounds(after, changed)}`)
}

function numbersOutside(narrow: Json, wide: Json): string[][] {
  const bounds = NUMBER_BOUNDS.filter(
    ([inclusive, exclusive, within]) =>
      isOutside(tightest(narrow, inclusive, exclusive, within), wide[inclusive], within) ||
      isOutsideExclusive(narrow, wide, inclusive, exclusive, within),
  ).map(([inclusive, exclusive]) => [inclusive, exclusive])
  return isMultiple(narrow['multipleOf'], wide['multipleOf']) ? bounds : [...bounds, ['multipleOf']]
}

function isMultiple(narrow: unknown, wide: unknown): boolean {
  return typeof wide !== 'number' || (typeof narrow === 'number' && Number.isInteger(narrow / wide))
}

/** A bound that is not a number is missing. */
function isOutside(narrow: unknown, wide: unknown, within: Within): boolean {
  return typeof wide === 'number' && !(typeof narrow === 'number' && within(narrow, wide))
}

// Within `exclusiveMinimum: 0` are `exclusiveMinimum: 0` and `minimum: 1`, but not `minimum: 0`.
function isOutsideExclusive(narrow: Json, wide: Json, inclusive: string, exclusive: string, within: Within): boolean {
  const bound = wide[exclusive]
  if (typeof bound !== 'number') return false
  const { [inclusive]: closed, [exclusive]: open } = narrow
  return isOutside(open, bound, within) && (closed === bound || isOutside(closed, bound, within))
}

function tightest(schema: Json, inclusive: string, exclusive: string, within: Within): unknown {
  const [closed, open] = [schema[inclusive], schema[exclusive]]
  if (typeof closed !== 'number') return open
  return typeof open === 'number' && within(open, closed) ? open : closed
}

function describeBounds(schema: Json, keywords: readonly string[]): string {
  const present = keywords.filter((keyword) => schema[keyword] !== undefined)
  return present.map((keyword) => `${keyword} ${String(schema[keyword])}`).join(' and ') || `no ${keywords[0]}`
}
