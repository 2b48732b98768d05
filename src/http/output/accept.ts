/** An item of the header `Accept`. */
interface MediaRange {
  /** `text/csv`, `text/*` or `*`/`*`, in lower case. */
  readonly type: string
  readonly weight: number
}

/**
 * The media type that a client prefers; the first one without the header. Of equal weights, the one that is named more exactly, then the first. Undefined
 * if it accepts none. Source: RFC 9110, 12.5.1.
 */
export function preferredMedia<M extends string>(
  accept: string | undefined,
  offered: readonly [M, ...M[]],
): M | undefined {
  if (accept === undefined || accept.trim() === '') return offered[0]
  const ranges = rangesOf(accept)
  const accepted = offered.map((media) => ({ media, ...mostExact(ranges, media) })).filter(({ weight }) => weight > 0)
  const [best] = accepted.toSorted((a, b) => b.weight - a.weight || a.rank - b.rank)
  return best?.media
}

// Entries that are not a range, or whose weight is invalid, are left out.
function rangesOf(accept: string): readonly MediaRange[] {
  return accept.split(',').flatMap((item) => {
    const [type = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))
    if (weight === undefined) return [{ type, weight: 1 }]
    const [, digits = ''] = weight.split('=')
    return WEIGHT.test(digits.trim()) ? [{ type, weight: Number(digits) }] : []
  })
}

const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** @returns how exactly the media type is named: 0 is the most exact. */
// The most exact range decides, whatever its weight: `text/csv;q=0, text/*` accepts no CSV.
function mostExact(ranges: readonly MediaRange[], media: string): { readonly weight: number; readonly rank: number } {
  const names = [media, `${media.split('/')[0]}/*`, '*/*']
  const weights = names.map((name) => ranges.flatMap(({ type, weight }) => (type === name ? [weight] : [])))
  const rank = weights.findIndex((found) => found.length > 0)
  return { weight: Math.max(0, ...(weights[rank] ?? [])), rank }
}
