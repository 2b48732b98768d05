/**
 * Whether a text matches. One that is too long for the engine's memory, of many millions of characters, does not: the engine throws a
 * RangeError then.
 */
export function matches(expression: RegExp, text: string): boolean {
  try {
    return expression.test(text)
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
