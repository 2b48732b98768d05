import { type ObjectShape, propertiesOf, type Shape } from '../../schema/shape/shape.js'
import { parseString } from '../../schema/input/parse-string.js'
import type { Request } from '../request.js'

/** Where the texts of a request are. */
export interface TextSource {
  readonly request: Request
  readonly variables: Readonly<Record<string, string>>
}

/** Reads a value as JSON; undefined when the client left it out. */
export type ReadText = (source: TextSource) => unknown

type TextPlace = 'path' | 'query' | 'header'

/** Reads an object whose properties each stand by themselves, under the names that `nameOf` gives them. */
export function objectReader(place: TextPlace, nameOf: (property: string) => string, shape: ObjectShape) {
  const readers = propertiesOf(shape, 'input').map(
    ([property, { shape: inner }]) => [property, textReader(place, nameOf(property), inner)] as const,
  )
  return (source: TextSource): Readonly<Record<string, unknown>> => {
    const values = readers.map(([property, read]) => [property, read(source)] as const)
    return Object.fromEntries(values.filter(([, value]) => value !== undefined))
  }
}

export function textReader(place: TextPlace, name: string, shape: Shape): ReadText {
  switch (place) {
    case 'path':
      return ({ variables }) => parseString(shape, variables[name] as string) // the route was found by its variables
    case 'query':
      return shape.kind === 'object'
        ? nestedReader(name, shape)
        : ({ request }) => readStrings(shape, request.query.get(name))
    case 'header': {
      const texts = shape.kind === 'array' ? listed : whole
      return ({ request }) => readStrings(shape, texts(request.headers[name]))
    }
  }
}

// ?age[from]=20&age[to]=30: what OpenAPI calls deepObject. An object of which nothing was sent was left out.
function nestedReader(name: string, shape: ObjectShape): ReadText {
  const read = objectReader('query', (property) => `${name}[${property}]`, shape)
  return (source) => {
    const object = read(source)
    const isWhole = source.request.query.get(name)
    return Object.keys(object).length > 0 ? object : isWhole && readStrings(shape, isWhole)
  }
}

// Node keeps the values of only a few headers apart: 'x-tag: a' and 'x-tag: b' arrive as 'a, b'.
function listed(value: string | string[] | undefined): readonly string[] | undefined {
  return whole(value)?.flatMap((text) => text.split(',').map((part) => part.trim()))
}

function whole(value: string | string[] | undefined): readonly string[] | undefined {
  return value === undefined ? undefined : [value].flat()
}

// A list is given by repetition. A single value that is repeated stays a list, which validation refuses.
function readStrings(shape: Shape, texts: readonly string[] | undefined): unknown {
  if (texts === undefined) return undefined
  if (shape.kind === 'array') return texts.map((text) => parseString(shape.items, text))
  return texts.length === 1 ? parseString(shape, texts[0] as string) : texts
}
