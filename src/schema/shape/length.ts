/** Whether a string has more than `most` characters. They are counted as in JSON Schema: a surrogate pair is one. */
export function isLonger(text: string, most: number): boolean {
  // A string of up to `most` code units cannot be longer; one of more than twice as many must be. Only between the two pairs are counted.
  return text.length > most && (text.length > 2 * most || lengthOf(text) > most)
}

export function lengthOf(text: string): number {
  let pairs = 0
  for (let index = 1; index < text.length; index++) {
    if (!isHalf(text.charCodeAt(index), 0xdc00) || !isHalf(text.charCodeAt(index - 1), 0xd800)) continue
    pairs++
    index++
  }
  return text.length - pairs
}

// 0xd800 is the first of the high surrogates, 0xdc00 of the low ones.
function isHalf(unit: number, first: number): boolean {
  return (unit & 0xfc00) === first
}
