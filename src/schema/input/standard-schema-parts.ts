import { usableJsonSchemaOf } from '../output/json-schema-validator.js'
import { compileKeepListed, type KeepListed } from '../output/listed-properties.js'
import { coercedSchemaOf } from '../shape/coercion.js'
import { escapePointer } from '../../core/json-pointer.js'
import type { Issue } from '../shape/issue.js'
import { ignoreRejections, isThenable } from '../../core/promises.js'
import { memo, memoFor } from '../../core/memo.js'
import { innerShapes, type ObjectShape, propertiesOf, type Shape, type StandardShape } from '../shape/shape.js'
import { type StandardResult, type StandardSchema, acceptsOmission, toIssues } from '../shape/standard-schema.js'
import { type Validate, ValidatorCompiler } from './validate.js'

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
  readonly keepListed: KeepListed
  /** Finds the values that the library would coerce although its JSON Schema does not allow them. */
  readonly checkCoerced: Validate | undefined
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
  if (withoutParts.has(shape)) return undefined
  if (hasParts(shape, new Set())) return new PartsCompiler().compile(shape)
  withoutParts.add(shape)
  return undefined
}

/** Known to have no parts: many routes have inputs of the same types. */
const withoutParts = new WeakSet<Shape>()

/** The path of a part: a JSON Pointer. */
export function pathOf({ location, key }: Pick<Part, 'location' | 'key'>): string {
  return `${location ? pathOf({ location: location.parent, key: location.key }) : ''}/${escapePointer(String(key))}`
}

/**
 * Validates each part by its library. The library's value replaces the part; its issues are returned. Once there are `most` issues, no further
 * part is validated.
 *
 * @param isLarge whether only the first of the values that would be coerced is reported.
 */
export async function validateParts(parts: readonly Part[], most: number, isLarge: boolean): Promise<readonly Issue[]> {
  const issues: Issue[] = []
  const waiting: Promise<unknown>[] = []
  for (const part of parts) {
    if (issues.length >= most) break
    const given = own(part.holder, part.key)
    const known = given === undefined ? undefined : part.checkCoerced?.(given, isLarge)
    const hasIssues = known !== undefined && known.length > 0
    if (hasIssues) for (const issue of known) issues.push({ ...issue, path: pathOf(part) + issue.path })
    if (hasIssues && isLarge) break
    const paths = new Set(known?.map(({ path }) => path))
    const result = validateBeside(waiting, part, given)
    if (isThenable(result)) waiting.push(Promise.resolve(result).then((later) => settle(part, later, issues, paths)))
    else settle(part, result, issues, paths)
  }
  await Promise.all(waiting)
  return issues
}

/** If it throws, nothing awaits the parts that are validated asynchronously. */
function validateBeside(
  waiting: readonly Promise<unknown>[],
  { schema, keepListed }: Part,
  given: unknown,
): StandardResult | PromiseLike<StandardResult> {
  try {
    return schema['~standard'].validate(keepListed(given))
  } catch (error) {
    ignoreRejections(waiting)
    throw error
  }
}

/** @param known the paths of values that have issues already. */
function settle(part: Part, result: StandardResult, issues: Issue[], known: ReadonlySet<string>): void {
  const { holder, key } = part
  if (result.issues) {
    for (const issue of toIssues(result.issues))
      if (!known.has(issue.path)) issues.push({ ...issue, path: pathOf(part) + issue.path })
    return
  }
  if (known.size > 0) return
  const given = own(holder, key)
  // An unchanged string or number is not wrapped: there may be hundreds of thousands.
  if (result.value !== given || (typeof given === 'object' && given !== null))
    holder[key] = new ConvertedPart(result.value)
}

const coercedCheckOf = memoFor((schema: StandardSchema): Validate | undefined => {
  const json = coercedSchemaOf(usableJsonSchemaOf(schema, 'input'))
  return json && new ValidatorCompiler(new Map()).compile(json)
})

function hasParts(shape: Shape, seen: Set<unknown>): boolean {
  switch (shape.kind) {
    case 'standard':
      return true
    case 'object':
      if (seen.has(shape.origin)) return false
      seen.add(shape.origin)
      return propertiesOf(shape, 'input').some(([, property]) => hasParts(property.shape, seen))
    default:
      return innerShapes(shape).some((inner) => hasParts(inner, seen))
  }
}

const NOTHING: FindParts = () => {}

function finderOf({ schema, nullable }: StandardShape): FindParts {
  const validatesOmission = acceptsOmission(schema)
  const keepListed = compileKeepListed(usableJsonSchemaOf(schema, 'input'), 'input', (value) => value)
  const checkCoerced = coercedCheckOf(schema)
  return (holder, key, location, found) => {
    const value = own(holder, key)
    if (value === undefined ? validatesOmission : value !== null || !nullable)
      found.push({ schema, keepListed, checkCoerced, holder, key, location })
  }
}

class PartsCompiler {
  readonly #objects = new Map<unknown, FindParts>()

  compile(shape: Shape): FindParts {
    switch (shape.kind) {
      case 'standard':
        return finderOf(shape)
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
      case 'map': {
        const find = this.compile(shape.values)
        return (holder, key, parent, found) => {
          const map = own(holder, key)
          if (!isHolder(map)) return
          const location = { parent, key }
          for (const name of Object.keys(map)) find(map, name, location, found)
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
