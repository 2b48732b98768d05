/** A migration cannot be written from what was asked for. The message states what to write instead, in one line for each problem. */
export class PlanError extends Error {
  override readonly name = 'PlanError'
}
