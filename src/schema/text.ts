import type { Shape } from './shape.js'

// The grammar of a JSON number: no '+1', '0x10', ' 5', '1_000', nor digits of other scripts, which Number() or \d might take.
const INTEGER = /^-?(?:0|[1-9][0-9]*)$/
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/

/**
 * What a text from the path, the query or a header stands for, as JSON.
 * A text that does not fit is left as it is: validation then says what is wrong with it.
 */
export function fromText(shape: Shape, text: string): unknown {
  switch (shape.kind) {
    case 'integer':
      return INTEGER.test(text) ? Number(text) : text
    case 'number':
      return NUMBER.test(text) ? Number(text) : text
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    case 'enum':
      return shape.values.includes(text) ? text : (shape.values.find((value) => String(value) === text) ?? text)
    case 'any':
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
