import { BootError } from '../../core/boot-error.js'
import type { Shape } from '../shape/shape.js'

type StringLocation = 'path' | 'query' | 'header' | 'cookie' | 'form' | 'multipart'

const PLACES: Readonly<Record<StringLocation, string>> = {
  path: 'the path',
  query: 'the query',
  header: 'the header',
  cookie: 'a cookie',
  form: 'a form',
  multipart: 'a multipart form',
}

const STRINGS = 'Receive it in the body, or as strings: { type: [String] }.'
const REMEDIES: Readonly<Record<StringLocation, string>> = {
  path: STRINGS,
  query: STRINGS,
  header: STRINGS,
  cookie: 'Receive it in the body, or as one string: { type: String }.',
  form: 'Receive it as JSON: remove form: true.',
  multipart: 'Put its properties into the class of the form, each with a name of its own.',
}

/**
 * Refuses types that cannot be written as strings in the path, the query, a header, a cookie or a form.
 *
 * @param where The input, for the message.
 * @throws BootError with the type to write instead.
 */
export function refuseComplexParameters(shape: Shape, location: StringLocation, where: string): void {
  if (shape.kind !== 'object' || location === 'path') return refuse(shape, location, where, [])
  // Elsewhere each property is a separate string.
  for (const [name, property] of shape.properties())
    refuse(property.shape, location, `${where}, ${shape.name}.${name}`, [shape.origin])
}

function refuse(shape: Shape, location: StringLocation, where: string, enclosing: readonly unknown[]): void {
  const what = complexTypeOf(shape, location, enclosing)
  if (what !== undefined)
    throw new BootError(`${where}: ${what} cannot be sent in ${PLACES[location]}. ${REMEDIES[location]}`)
  if (shape.kind !== 'object') return
  for (const [name, property] of shape.properties())
    refuse(property.shape, location, `${where}, ${shape.name}.${name}`, [...enclosing, shape.origin])
}

function complexTypeOf(shape: Shape, location: StringLocation, enclosing: readonly unknown[]): string | undefined {
  switch (shape.kind) {
    case 'union':
      return 'one of several classes'
    case 'object':
      if (enclosing.includes(shape.origin)) return `a ${shape.name} inside another ${shape.name}`
      return location === 'query' ? undefined : `a ${shape.name}`
    case 'map':
      return 'a map'
    case 'array':
      if (location === 'cookie') return 'a list'
      if (shape.items.kind === 'object') return `a list of ${shape.items.name}`
      if (shape.items.kind === 'map') return 'a list of maps'
      return shape.items.kind === 'array' || shape.items.kind === 'union'
        ? `a list of ${shape.items.kind === 'array' ? 'lists' : 'one of several classes'}`
        : undefined
    default:
      return undefined
  }
}
