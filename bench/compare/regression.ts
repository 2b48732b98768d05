import type { Sample, Spread } from './results.js'

/** A figure of both versions. */
export interface Figure {
  readonly name: string
  readonly before: Spread
  readonly now: Spread
}

/**
 * Whether a figure is worse, beyond what the measurement itself varies: each of its rounds is worse than every round of the version before. If nothing has
 * changed, five rounds of both do that by chance in one of 252 figures.
 */
export function isWorse({ before, now }: Figure): boolean {
  return now.least > before.most
}

/** A version as the history has it: its figures divided by those of `raw` of the same run, so that machines compare. */
export interface HistoryEntry {
  readonly date: string
  readonly commit: string
  readonly node: string
  /** CPU for a request, by work. */
  readonly cpu: Readonly<Record<string, number>>
  /** The most memory, by work. */
  readonly memory: Readonly<Record<string, number>>
  /** CPU until a server with a database listens. */
  readonly start: number
}

/** One measurement of one version, or of `raw`. */
export interface Measurement extends Sample {
  /** Milliseconds of CPU until the server listened. */
  readonly start: number
}
