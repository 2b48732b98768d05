/** An item of the header `Accept`. */
interface MediaRange {
  /** `text/csv`, `text/*` or `*`/`*`, in lower case. */
  readonly type: string
  readonly weight: number
}

/** How exactly a range names a media type; higher is more exact. */
type Precision = 1 | 2 | 3

/**
 * The media type that a client prefers; the first one without the header. Of equal weights, the one that is named more exactly, then the first. Undefined
 * if it accepts none. Source: RFC 9110, 12.5.1.
 */
export function preferredMedia<M extends string>(
  accept: string | undefined,
  offered: readonly [M, ...M[]],
): M | undefined {
  const ranges = rangesOf(accept ?? '')
  if (accept === undefined || accept.trim() === '') return offered[0]
  let best: { readonly media: M; readonly weight: number; readonly precision: Precision } | undefined
  for (const media of offered) {
    const found = mostPrecise(ranges, media)
    if (!found || found.weight === 0) continue
    const isBetter =
      !best || found.weight > best.weight || (found.weight === best.weight && found.precision > best.precision)
    if (isBetter) best = { media, ...found }
  }
  return best?.media
}

// Entries that are no range, or have no weight of HTTP, are left out.
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

// The most exact range decides, whatever its weight: `text/csv;q=0, text/*` accepts no CSV.
function mostPrecise(
  ranges: readonly MediaRange[],
  media: string,
): { readonly weight: number; readonly precision: Precision } | undefined {
  const [main] = media.split('/')
  const names: readonly [string, Precision][] = [
    [media, 3],
    [`${main}/*`, 2],
    ['*/*', 1],
  ]
  for (const [name, precision] of names) {
    const weights = ranges.flatMap(({ type, weight }) => (type === name ? [weight] : []))
    if (weights.length > 0) return { weight: Math.max(...weights), precision }
  }
  return undefined
}
