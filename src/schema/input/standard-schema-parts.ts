import { escapePointer, type Issue } from '../shape/issue.js'
import { memo } from '../../core/memo.js'
import { type ObjectShape, propertiesOf, type Shape } from '../shape/shape.js'
import { type StandardResult, type StandardSchema, acceptsOmission, toIssues } from '../shape/standard-schema.js'

/*
 * The parts of an input that Standard Schemas validate. They are found in the JSON, validated by their libraries, and decoded last.
 */

/** The value that a library returned for a part of an input. It replaces the part until the input is decoded. */
export class ConvertedPart {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

/** A part of an input that a Standard Schema validates: `holder[key]`. */
export interface Part {
  readonly schema: StandardSchema
  readonly holder: Holder
  readonly key: string | number
  readonly location: Location | undefined
}

/** Where a holder is. Its path is written only for issues: a list may have a hundred thousand parts. */
interface Location {
  readonly parent: Location | undefined
  readonly key: string | number
}

type Holder = Record<string | number, unknown>

/** Adds the parts in `holder[key]` that Standard Schemas validate to `found`. */
export type FindParts = (holder: Holder, key: string | number, location: Location | undefined, found: Part[]) => void

/** Compiles the search for parts that Standard Schemas validate; undefined when a shape has none. */
export function compileStandardParts(shape: Shape): FindParts | undefined {
  return hasParts(shape, new Set()) ? new PartsCompiler().compile(shape) : undefined
}

/** The path of a part: a JSON Pointer. */
export function pathOf({ location, key }: Pick<Part, 'location' | 'key'>): string {
  return `${location ? pathOf({ location: location.parent, key: location.key }) : ''}/${escapePointer(String(key))}`
}

/**
 * Validates each part by its library. The library's value replaces the part; its issues are returned. Once there are `most` issues, no further
 * part is validated.
 */
export async function validateParts(parts: readonly Part[], most: number): Promise<readonly Issue[]> {
  const issues: Issue[] = []
  const waiting: Promise<unknown>[] = []
  for (const part of parts) {
    if (issues.length >= most) break
    const result = part.schema['~standard'].validate(own(part.holder, part.key))
    if (result instanceof Promise) waiting.push(result.then((later) => settle(part, later, issues)))
    else settle(part, result, issues)
  }
  await Promise.all(waiting)
  return issues
}

function settle(part: Part, result: StandardResult, issues: Issue[]): void {
  const { holder, key } = part
  if (result.issues) {
    for (const issue of toIssues(result.issues)) issues.push({ ...issue, path: pathOf(part) + issue.path })
    return
  }
  const given = own(holder, key)
  // An unchanged string or number is not wrapped: there may be hundreds of thousands.
  if (result.value !== given || (typeof given === 'object' && given !== null))
    holder[key] = new ConvertedPart(result.value)
}

function hasParts(shape: Shape, seen: Set<unknown>): boolean {
  switch (shape.kind) {
    case 'standard':
      return true
    case 'array':
      return hasParts(shape.items, seen)
    case 'union':
      return [...shape.options().values()].some((option) => hasParts(option, seen))
    case 'object':
      if (seen.has(shape.origin)) return false
      seen.add(shape.origin)
      return propertiesOf(shape, 'input').some(([, property]) => hasParts(property.shape, seen))
    default:
      return false
  }
}

const NOTHING: FindParts = () => {}

class PartsCompiler {
  readonly #objects = new Map<unknown, FindParts>()

  compile(shape: Shape): FindParts {
    switch (shape.kind) {
      case 'standard': {
        const validatesOmission = acceptsOmission(shape.schema)
        const { schema, nullable } = shape
        return (holder, key, location, found) => {
          const value = own(holder, key)
          if (value === undefined ? validatesOmission : value !== null || !nullable)
            found.push({ schema, holder, key, location })
        }
      }
      case 'array': {
        const find = this.compile(shape.items)
        return (holder, key, parent, found) => {
          const list = own(holder, key)
          if (!Array.isArray(list)) return
          const location = { parent, key }
          const items = list as unknown as Holder // an array holds its items by index
          for (let index = 0; index < list.length; index++) find(items, index, location, found)
        }
      }
      case 'union': {
        const { discriminator, options } = shape
        const finders = memo(() => new Map([...options()].map(([tag, option]) => [tag, this.compile(option)])))
        return (holder, key, location, found) => {
          const value = own(holder, key)
          if (isHolder(value)) (finders().get(value[discriminator]) ?? NOTHING)(holder, key, location, found)
        }
      }
      case 'object':
        return this.#object(shape)
      default:
        return NOTHING
    }
  }

  #object(shape: ObjectShape): FindParts {
    const known = this.#objects.get(shape.origin)
    if (known) return known
    const finders: (readonly [string, FindParts])[] = []
    const find: FindParts = (holder, key, parent, found) => {
      const value = own(holder, key)
      if (!isHolder(value)) return
      const location = { parent, key }
      for (const [name, findIn] of finders) findIn(value, name, location, found)
    }
    this.#objects.set(shape.origin, find) // set before its properties are compiled: they may refer to it
    for (const [name, property] of propertiesOf(shape, 'input')) finders.push([name, this.compile(property.shape)])
    return find
  }
}

function own(holder: Holder, key: string | number): unknown {
  return Object.hasOwn(holder, key) ? holder[key] : undefined
}

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
