import { type ObjectShape, propertiesOf } from '../../schema/shape/shape.js'
import { parseableShape } from '../../schema/input/parse-string.js'
import { BadRequest, PayloadTooLarge } from '../errors.js'
import { decodeUtf8, type JsonBody, LARGE } from './body.js'
import { parseFields, readStrings } from './read-strings.js'

/** Parses the bytes of a form as the JSON that its class declares. */
export type ParseForm = (bytes: Buffer) => JsonBody

/** Compiles the parser of forms with the properties of this shape as fields. Other fields are ignored, as they are in the query. */
export function compileForm(shape: ObjectShape): ParseForm {
  const properties = propertiesOf(shape, 'input').map(
    ([name, property]) => [name, parseableShape(property.shape)] as const,
  )
  return (bytes) => {
    const fields = fieldsOf(bytes)
    const read = () => {
      const values = properties.map(([name, inner]) => [name, readStrings(inner, fields.get(name))] as const)
      return Object.fromEntries(values.filter(([, value]) => value !== undefined))
    }
    return { json: read(), again: read, isLarge: bytes.length > LARGE.bytes, mayBeIllFormed: true }
  }
}

/** The maximum number of fields in a form. */
const MAX_FIELDS = 1000

/** The values of a form by name. @throws PayloadTooLarge for too many fields, BadRequest for what is not UTF-8 or not percent-encoded. */
function fieldsOf(bytes: Buffer): ReadonlyMap<string, readonly string[]> {
  refuseMoreFields(bytes)
  return parseFields(decodeUtf8(bytes), decodePart)
}

const AMPERSAND = '&'.charCodeAt(0)

function refuseMoreFields(bytes: Buffer): void {
  let fields = 1
  for (let at = bytes.indexOf(AMPERSAND); at >= 0; at = bytes.indexOf(AMPERSAND, at + 1))
    if (++fields > MAX_FIELDS) throw new PayloadTooLarge(`The body has more than ${MAX_FIELDS} fields.`)
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new BadRequest('The body has an invalid percent-encoding.', { cause })
  }
}
