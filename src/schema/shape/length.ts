/** Whether a text has more characters than these. One that takes two units counts once, as in JSON Schema. */
export function isLonger(text: string, most: number): boolean {
  // Only a text of more units, and of not more than twice as many, needs to be counted.
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

function isHalf(unit: number, first: number): boolean {
  return (unit & 0xfc00) === first
}
