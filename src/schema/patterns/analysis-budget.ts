/*
 * The analysis of a pattern takes a bounded time itself: what is too large for it is refused, as if it were costly.
 */

/** About two seconds. */
const MAX_STEPS = 30_000_000

/** The pattern has too many parts, or they can follow each other in too many ways. */
export class PatternTooLarge extends Error {}

export class AnalysisBudget {
  #left = MAX_STEPS

  /** @throws PatternTooLarge when all steps are spent. */
  spend(steps = 1): void {
    this.#left -= steps
    if (this.#left < 0) throw new PatternTooLarge()
  }
}
