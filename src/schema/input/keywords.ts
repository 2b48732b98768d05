import type { AnySchemaObject, ErrorObject, FuncKeywordDefinition } from 'ajv/dist/2020.js'
import { failuresOf } from '../shape/check.js'
import { formatCheck, formatMeaning } from '../shape/formats.js'
import { listValues } from '../shape/issue.js'
import { isLonger } from '../shape/length.js'
import { matches } from '../patterns/matches.js'

/*
 * Replacements for keywords of ajv. Those that read a whole string are skipped for a string longer than `maxLength`: only its length is
 * reported, so their cost is bounded. `enum` looks the value up in a set, where ajv compares it with one value after the other.
 */

interface Validate {
  (value: unknown): boolean
  errors?: Partial<ErrorObject>[]
}

function pattern(source: string, parent: AnySchemaObject): Validate {
  const expression = new RegExp(source, 'u')
  const message = `must match pattern "${source}"`
  return ofText('pattern', parent, (value) =>
    typeof value !== 'string' || matches(expression, value) ? NONE : [message],
  )
}

function format(name: string, parent: AnySchemaObject): Validate {
  const check = formatCheck(name)
  const message = `must be ${formatMeaning(name)}`
  return ofText('format', parent, (value) => (check(value) ? NONE : [message]))
}

function checks(numbers: readonly number[], parent: AnySchemaObject): Validate {
  return ofText('checks', parent, (value) => failuresOf(numbers, value))
}

type MessagesOf = (value: unknown) => readonly string[]

const NONE: readonly string[] = []

function ofText(keyword: string, parent: AnySchemaObject, messagesOf: MessagesOf): Validate {
  const most: unknown = parent['maxLength']
  if (typeof most !== 'number') return validator(keyword, messagesOf)
  return validator(keyword, (value) => (typeof value === 'string' && isLonger(value, most) ? NONE : messagesOf(value)))
}

function oneOf(values: readonly unknown[]): Validate {
  const allowed = new Set(values)
  const message = `must be one of ${listValues(values)}`
  return validator('enum', (value) => (allowed.has(value) ? NONE : [message]))
}

// ajv reads the errors of a keyword from the property `errors` of its function.
function validator(keyword: string, messagesOf: MessagesOf): Validate {
  const validate: Validate = (value) => {
    const messages = messagesOf(value)
    if (messages.length === 0) return true
    validate.errors = messages.map((message) => ({ keyword, params: {}, message }))
    return false
  }
  return validate
}

/** The keywords that replace those of ajv, and `checks`, which runs custom checks: see {@link failuresOf}. */
export const KEYWORDS: readonly (FuncKeywordDefinition & { readonly keyword: string })[] = [
  { keyword: 'pattern', type: 'string', schemaType: 'string', errors: true, compile: pattern },
  { keyword: 'format', type: ['string', 'number'], schemaType: 'string', errors: true, compile: format },
  { keyword: 'enum', schemaType: 'array', errors: true, compile: oneOf },
  { keyword: 'checks', schemaType: 'array', errors: true, compile: checks },
]
