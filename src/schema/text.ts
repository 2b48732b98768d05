import { isDecimalText, isIntegerText } from './grammar.js'
import type { Shape } from './shape.js'

/**
 * What a text from the path, the query or a header stands for, as JSON.
 * A text that does not fit is left as it is: validation then says what is wrong with it.
 */
export function fromText(shape: Shape, text: string): unknown {
  switch (shape.kind) {
    case 'integer':
      return isIntegerText(text) ? toNumber(text) : text
    case 'number':
      return isDecimalText(text) ? toNumber(text) : text
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    case 'enum':
      return shape.values.includes(text) ? text : (shape.values.find((value) => String(value) === text) ?? text)
    case 'any':
    case 'union':
    case 'standard':
    case 'string':
    case 'date-time':
    case 'date':
    case 'bigint':
    case 'decimal':
    case 'bytes':
    case 'array':
    case 'object':
      return text
  }
}

// '-0' is written for 0 and nothing else.
function toNumber(text: string): number {
  return Number(text) + 0
}
