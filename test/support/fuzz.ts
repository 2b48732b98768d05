/*
 * Tests with many generated inputs.
 */

/** The number of generated inputs of a test; `npm run fuzz` multiplies it by FUZZ_FACTOR, `npm run test:quick` takes a tenth. */
export function runs(count: number): number {
  if (process.env['TEST_QUICK']) return Math.ceil(count / 10)
  return count * Math.max(1, Number(process.env['FUZZ_FACTOR'] ?? 1))
}

/** A generator of pseudo-random integers from 0 to below `below`. The same seed gives the same numbers in every run. */
export function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
