import type { Issue } from './issue.js'
import { escapePointer } from './grammar.js'
import { lazily } from './lazily.js'
import { type ObjectShape, propertiesOf, type Shape } from './shape.js'
import { type StandardSchema, takesNothing, toIssues } from './standard.js'

/** What a schema of another library has made of a part of an input; it stands in the part's place until it is decoded. */
export class Made {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

/** A part of an input that a schema of another library is asked about, and where it is. */
export interface Part {
  readonly schema: StandardSchema
  readonly path: string
  readonly value: unknown
  readonly replace: (made: Made) => void
}

type Holder = Record<string | number, unknown>

/** Finds the parts under `holder[key]` that are other libraries' to check. */
export type FindParts = (holder: Holder, key: string | number, path: string) => readonly Part[]

/** Compiles the search for parts that other libraries check; undefined when a shape has none. */
export function compileFindParts(shape: Shape): FindParts | undefined {
  return hasParts(shape, new Set()) ? new PartsCompiler().compile(shape) : undefined
}

/** Asks each part's library about it. What a library makes of a part takes its place; what it finds wrong is returned. */
export async function consult(parts: readonly Part[]): Promise<readonly Issue[]> {
  const issues = await Promise.all(
    parts.map(async ({ schema, path, value, replace }) => {
      const result = await schema['~standard'].validate(value)
      if (result.issues) return toIssues(result.issues).map((issue) => ({ ...issue, path: path + issue.path }))
      if (result.value !== undefined || value !== undefined) replace(new Made(result.value))
      return []
    }),
  )
  return issues.flat()
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

const NONE: FindParts = () => []

class PartsCompiler {
  readonly #objects = new Map<unknown, FindParts>()

  compile(shape: Shape): FindParts {
    switch (shape.kind) {
      case 'standard': {
        const fillsIn = takesNothing(shape.schema)
        return (holder, key, path) => {
          const value = own(holder, key)
          if (value === undefined ? !fillsIn : value === null && shape.nullable) return []
          return [{ schema: shape.schema, path, value, replace: (made) => void (holder[key] = made) }]
        }
      }
      case 'array': {
        const find = this.compile(shape.items)
        return (holder, key, path) => {
          const list = own(holder, key)
          if (!Array.isArray(list)) return []
          return list.flatMap((_, index) => find(list as unknown as Holder, index, `${path}/${index}`))
        }
      }
      case 'union': {
        const { discriminator, options } = shape
        const finders = lazily(() => new Map([...options()].map(([tag, option]) => [tag, this.compile(option)])))
        return (holder, key, path) => {
          const value = own(holder, key)
          return isHolder(value) ? (finders().get(value[discriminator]) ?? NONE)(holder, key, path) : []
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
    const find: FindParts = (holder, key, path) => {
      const value = own(holder, key)
      if (!isHolder(value)) return []
      return finders.flatMap(([name, findIn]) => [...findIn(value, name, `${path}/${escapePointer(name)}`)])
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
