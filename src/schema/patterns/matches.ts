/**
 * Whether a string matches. A string of many millions of characters may not: the engine runs out of memory and throws a RangeError, which
 * counts as no match.
 */
export function matches(expression: RegExp, text: string): boolean {
  try {
    return expression.test(text)
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
