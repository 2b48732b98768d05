import type { Index } from '../catalog.js'
import { afterList, isKeyword, listOf, textOf, type Word, wordsOf } from './words.js'

/** What only the text of a CREATE INDEX says: its expressions, by their places, and the condition. */
export function readIndexSql(sql: string): Pick<Index, 'where'> & { readonly expressions: readonly string[] } {
  const words = wordsOf(sql)
  const after = afterList(words)
  const condition = isKeyword(after[0], 'WHERE') ? textOf(sql, withoutParentheses(after.slice(1))) : undefined
  return {
    ...(condition === undefined ? {} : { where: condition }),
    expressions: listOf(words).map((part) => textOf(sql, withoutParentheses(withoutOrder(part)))),
  }
}

/** Those around the whole of an expression, as Sequelize writes them, mean nothing. */
function withoutParentheses(words: readonly Word[]): readonly Word[] {
  const [open] = words
  const close = words.findIndex(({ text, depth }) => text === ')' && depth === open?.depth)
  return open?.text === '(' && close === words.length - 1 ? withoutParentheses(words.slice(1, -1)) : words
}

function withoutOrder(part: readonly Word[]): readonly Word[] {
  const last = part.at(-1)
  return part.length > 1 && (isKeyword(last, 'ASC') || isKeyword(last, 'DESC')) ? part.slice(0, -1) : part
}
