import { propertiesOf, type Property, type Shape } from '../shape/shape.js'

/** The message that a property declares for values that do not match it; undefined if the one at this path, a JSON Pointer's parts, declares none. */
export function messageAt({ shape, message }: Property, keys: readonly string[]): string | undefined {
  const [key, ...rest] = keys
  if (key === undefined) return message
  // An item of a list has the message of the list.
  if (shape.kind === 'array')
    return messageAt({ shape: shape.items, optional: false, ...(message === undefined ? {} : { message }) }, rest)
  const name = key.replaceAll('~1', '/').replaceAll('~0', '~')
  const property = propertyIn(shape, name)
  return property && messageAt(property, rest)
}

function propertyIn(shape: Shape, name: string): Property | undefined {
  const objects = shape.kind === 'object' ? [shape] : shape.kind === 'union' ? [...shape.options().values()] : []
  for (const object of objects) {
    const found = propertiesOf(object, 'input').find(([known]) => known === name)
    if (found) return found[1]
  }
  return undefined
}
