/** How many inputs a law is tried with: `npm run fuzz` multiplies them by FUZZ_FACTOR. */
export function runs(count: number): number {
  return count * Math.max(1, Number(process.env['FUZZ_FACTOR'] ?? 1))
}
