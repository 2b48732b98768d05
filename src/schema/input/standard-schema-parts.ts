import { escapePointer, type Issue } from '../shape/issue.js'
import { memo } from '../../core/memo.js'
import { type ObjectShape, propertiesOf, type Shape } from '../shape/shape.js'
import { type StandardResult, type StandardSchema, takesNothing, toIssues } from '../shape/standard-schema.js'

/** What a schema of another library has made of a part of an input; it stands in the part's place until it is decoded. */
export class ConvertedPart {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

/** A part of an input that a schema of another library validates: `holder[key]`. */
export interface Part {
  readonly schema: StandardSchema
  readonly holder: Holder
  readonly key: string | number
  readonly place: Place | undefined
}

/** Where a holder is. Its path is written only where something is wrong: a list may have a hundred thousand parts. */
interface Place {
  readonly around: Place | undefined
  readonly key: string | number
}

type Holder = Record<string | number, unknown>

/** Adds the parts under `holder[key]` that are other libraries' to check. */
export type FindParts = (holder: Holder, key: string | number, place: Place | undefined, found: Part[]) => void

/** Compiles the search for parts that other libraries check; undefined when a shape has none. */
export function compileStandardParts(shape: Shape): FindParts | undefined {
  return hasParts(shape, new Set()) ? new PartsCompiler().compile(shape) : undefined
}

/** The path of a part: a JSON Pointer. */
export function pathOf({ place, key }: Pick<Part, 'place' | 'key'>): string {
  return `${place ? pathOf({ place: place.around, key: place.key }) : ''}/${escapePointer(String(key))}`
}

/**
 * Asks each part's library about it. What a library makes of a part takes its place; what it finds wrong is returned. No other part is
 * validated once so many issues are found.
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
  // A text or a number that stays what it was needs no mark: there may be hundreds of thousands.
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

const NONE: FindParts = () => {}

class PartsCompiler {
  readonly #objects = new Map<unknown, FindParts>()

  compile(shape: Shape): FindParts {
    switch (shape.kind) {
      case 'standard': {
        const fillsIn = takesNothing(shape.schema)
        const { schema, nullable } = shape
        return (holder, key, place, found) => {
          const value = own(holder, key)
          if (value === undefined ? fillsIn : value !== null || !nullable) found.push({ schema, holder, key, place })
        }
      }
      case 'array': {
        const find = this.compile(shape.items)
        return (holder, key, around, found) => {
          const list = own(holder, key)
          if (!Array.isArray(list)) return
          const place = { around, key }
          for (let index = 0; index < list.length; index++) find(list as unknown as Holder, index, place, found)
        }
      }
      case 'union': {
        const { discriminator, options } = shape
        const finders = memo(() => new Map([...options()].map(([tag, option]) => [tag, this.compile(option)])))
        return (holder, key, place, found) => {
          const value = own(holder, key)
          if (isHolder(value)) (finders().get(value[discriminator]) ?? NONE)(holder, key, place, found)
        }
      }
      case 'object':
        return this.#object(shape)
      default:
        return NONE
    }
  }

  #object(shape: ObjectShape): FindParts {
    const known = this.#objects.get(shape.origin)
    if (known) return known
    const finders: (readonly [string, FindParts])[] = []
    const find: FindParts = (holder, key, around, found) => {
      const value = own(holder, key)
      if (!isHolder(value)) return
      const place = { around, key }
      for (const [name, findIn] of finders) findIn(value, name, place, found)
    }
    this.#objects.set(shape.origin, find) // known before its properties: they may refer to it
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
