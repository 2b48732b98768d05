/*
 * Tests with many generated inputs.
 */

/**
 * The number of generated inputs of a test. `npm run fuzz` multiplies it by FUZZ_FACTOR. `npm test` takes a quarter;
 * where the same is run a second time, on Sequelize's query path, and in `npm run test:quick`, a tenth is enough.
 */
export function runs(count: number): number {
  return Math.ceil(count * share())
}

function share(): number {
  const { FUZZ_FACTOR, TEST_QUICK, toolkit_fast_path } = process.env
  if (FUZZ_FACTOR) return Number(FUZZ_FACTOR)
  return TEST_QUICK || toolkit_fast_path === 'false' ? 0.1 : 0.25
}

/** A generator of pseudo-random integers from 0 to below `below`. The same seed gives the same numbers in every run. */
export function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
