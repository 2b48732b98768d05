import { bodyPropertiesOf } from '../../schema/input/body-properties.js'
import type { Shape } from '../../schema/shape/shape.js'

/** Where a property is in a body. */
export interface BodyPlace {
  /** The names of the properties that lead to the innermost value that is known: the property, a list of objects that have it, or what all have in common. */
  readonly path: readonly string[]
  /** Whether the path leads to the property itself. */
  readonly isExact: boolean
}

interface Candidate {
  readonly shape: Shape
  readonly path: readonly string[]
  /** Whether it is an item of a list. The path then leads to the list, because the index is not known. */
  readonly inList: boolean
}

/** Finds the property with this name that is nearest to the top of a body: `email` in `{ user: { email } }`. */
export function placeInBody(body: Shape, name: string): BodyPlace | undefined {
  const seen = new Set<Shape>() // classes may refer to themselves
  for (let level = [toItems({ shape: body, path: [], inList: false })]; level.length > 0; level = next(level, seen)) {
    const found = level.filter(({ shape }) => bodyPropertiesOf(shape).some(([property]) => property === name))
    const [first, ...others] = found
    if (!first) continue
    if (others.length > 0) return { path: commonStart(found.map(({ path }) => path)), isExact: false }
    return first.inList ? { path: first.path, isExact: false } : { path: [...first.path, name], isExact: true }
  }
  return undefined
}

/** The names of all properties of a body, at any depth. */
export function namesInBody(body: Shape): ReadonlySet<string> {
  const names = new Set<string>()
  const seen = new Set<Shape>()
  for (let level = [toItems({ shape: body, path: [], inList: false })]; level.length > 0; level = next(level, seen))
    for (const { shape } of level) for (const [name] of bodyPropertiesOf(shape)) names.add(name)
  return names
}

function next(level: readonly Candidate[], seen: Set<Shape>): Candidate[] {
  const remaining = level.filter(({ shape }) => !seen.has(shape))
  for (const { shape } of remaining) seen.add(shape)
  return remaining.flatMap(({ shape, path, inList }) =>
    bodyPropertiesOf(shape).map(([name, property]) =>
      toItems({ shape: property.shape, path: inList ? path : [...path, name], inList }),
    ),
  )
}

function toItems(candidate: Candidate): Candidate {
  const { shape, path } = candidate
  return shape.kind === 'array' ? toItems({ shape: shape.items, path, inList: true }) : candidate
}

function commonStart(paths: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = paths
  const end = first.findIndex((name, index) => others.some((path) => path[index] !== name))
  return end === -1 ? first : first.slice(0, end)
}
