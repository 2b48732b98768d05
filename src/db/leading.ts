// What databases pass over before a statement. What stands in MySQL's executable comments is a statement as well.
const PASSED_OVER = /^(?:[\s;]|\/\*!\d*|\/\*(?!!)[\s\S]*?\*\/|(?:--|#)[^\n]*(?:\n|$))*/.source

/** Matches texts whose statement begins with one of the words, in the syntax of a regular expression. */
export function leading(...words: readonly string[]): RegExp {
  return new RegExp(`${PASSED_OVER}(?:${words.join('|')})\\b`, 'i')
}
