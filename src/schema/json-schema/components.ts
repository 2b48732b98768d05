import { BootError } from '../../core/boot-error.js'
import {
  innerShapes,
  type Direction,
  type JsonSchema,
  type Named,
  type Shape,
  isOmissible,
  type Property,
} from '../shape/shape.js'
import { type StandardSchema, writtenJsonSchema } from '../shape/standard-schema.js'

interface Owner {
  readonly origin: unknown
  /** Only of a class that differs between input and output: it has a component for each. */
  readonly direction: Direction | undefined
}

const SUFFIX = { input: 'Input', output: 'Output' } as const

/** The components of an OpenAPI document. Each name belongs to one class, or to one definition of a library. */
export class Components {
  readonly schemas = new Map<string, JsonSchema>()
  readonly #owners = new Map<string, Owner>()
  readonly #differing = new Map<unknown, boolean>()

  /**
   * The name of the component of a class with this shape. The component is written at the first call.
   *
   * @throws BootError when the name belongs to another class.
   */
  ofClass({ name, origin }: Named, shape: Shape, use: Direction, write: () => JsonSchema): string {
    const plain = allowed(name)
    const direction = this.#differs(origin, shape) ? use : undefined
    const written = this.#owners.get(plain)
    if (written && written.origin === origin && written.direction === direction) return plain
    const names = direction ? [plain, plain + SUFFIX[direction]] : [plain]
    const own = names.find((candidate) => this.#isFreeFor(candidate, { origin, direction }))
    const taken = names.find((candidate) => this.#owners.get(candidate)?.origin !== origin)
    if (own === undefined || (taken !== undefined && names.indexOf(taken) < names.indexOf(own)))
      throw new BootError(
        `Two different classes are named ${taken ?? plain}, but the names of OpenAPI components must be unique. Rename one, or write dto(Source, { name: '...' }).`,
      )
    return this.#write(own, { origin, direction }, write)
  }

  /** The name of the component of a library's definition. Libraries use some names, such as '__schema0', in every schema: they are numbered. */
  ofDefinition({ name, origin }: Named, direction: Direction, write: () => JsonSchema): string {
    const plain = allowed(name)
    const owner = { origin, direction: undefined }
    let candidate = plain
    for (let number = 1; !this.#isFreeFor(candidate, owner); number++)
      candidate = `${plain}${SUFFIX[direction]}${number === 1 ? '' : number}`
    return this.#write(candidate, owner, write)
  }

  #differs(origin: unknown, shape: Shape): boolean {
    const known = this.#differing.get(origin)
    if (known !== undefined) return known
    const seen = new Set<unknown>()
    const differs = differsByDirection(shape, seen)
    this.#differing.set(origin, differs)
    // A shape that does not differ has no part that differs.
    if (!differs) for (const part of seen) this.#differing.set(part, false)
    return differs
  }

  #isFreeFor(name: string, { origin, direction }: Owner): boolean {
    const owner = this.#owners.get(name)
    return !owner || (owner.origin === origin && owner.direction === direction)
  }

  #write(name: string, owner: Owner, write: () => JsonSchema): string {
    if (this.#owners.has(name)) return name
    this.#owners.set(name, owner)
    this.schemas.set(name, {}) // reserved before it is written: it may refer to itself
    this.schemas.set(name, write())
    return name
  }
}

const ALLOWED = /^[A-Za-z0-9._-]*$/

// OpenAPI allows only these characters, but a class may be named Größe.
function allowed(name: string): string {
  return ALLOWED.test(name) ? name : name.replaceAll(/[^A-Za-z0-9._-]/gu, '_')
}

/** Whether a shape, or one that it contains, has different JSON Schemas for input and for output. */
function differsByDirection(shape: Shape, seen: Set<unknown> = new Set()): boolean {
  switch (shape.kind) {
    case 'standard':
      return jsonOf(shape.schema, 'input') !== jsonOf(shape.schema, 'output')
    case 'object':
      if (seen.has(shape.origin)) return false
      seen.add(shape.origin)
      return [...shape.properties().values()].some(
        (property) => differs(property) || differsByDirection(property.shape, seen),
      )
    default:
      return innerShapes(shape).some((inner) => differsByDirection(inner, seen))
  }
}

function differs(property: Property): boolean {
  return (
    property.writeOnly === true ||
    property.readOnly === true ||
    isOmissible(property, 'input') !== isOmissible(property, 'output')
  )
}

function jsonOf(schema: StandardSchema, direction: Direction): string | undefined {
  return JSON.stringify(writtenJsonSchema(schema, direction))
}
