import { type ObjectShape, propertiesOf } from '../../schema/shape/shape.js'
import { parseableShape } from '../../schema/input/parse-string.js'
import { fieldsOf, type ParseForm } from './form-fields.js'
import { LARGE } from './json.js'
import { readStrings } from './read-strings.js'

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
