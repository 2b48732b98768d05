import { placed } from '../../core/boot-error.js'
import { usableJsonSchemaOf } from '../output/json-schema-validator.js'
import {
  type Direction,
  type JsonSchema,
  type ObjectShape,
  propertiesOf,
  type Property,
  type Shape,
} from '../shape/shape.js'
import { Components } from './components.js'
import { liftDefinitions } from './lift-definitions.js'
import { defaultAsJson, namedOf } from './writer.js'

const UNWRITTEN: JsonSchema = {}

/**
 * Finds at startup what a SchemaWriter for the OpenAPI document would refuse, without writing it: the document is as large as the app, and most
 * processes are never asked for it. Shapes are to be checked in the order in which they are written: it decides which class has which name.
 */
export class SchemaChecker {
  readonly #components = new Components()
  // Many routes have the same types.
  readonly #checked = { input: new WeakSet<Shape>(), output: new WeakSet<Shape>() }
  readonly #groups = new WeakSet<ObjectShape>()
  // A library's schema is the same object in all routes that use it.
  readonly #lifted = { input: new Set<JsonSchema>(), output: new Set<JsonSchema>() }

  /** The names of the components that the writer would have written so far. */
  get names(): ReadonlyMap<string, unknown> {
    return this.#components.schemas
  }

  /** @throws BootError, as SchemaWriter.write() does. */
  check(shape: Shape, direction: Direction): void {
    if (this.#checked[direction].has(shape)) return
    this.#check(shape, direction)
    this.#checked[direction].add(shape)
  }

  #check(shape: Shape, direction: Direction): void {
    if (shape.openApiSchema) return this.#checkLifted(shape.openApiSchema, direction)
    const named = namedOf(shape)
    if (!named) return this.#checkParts(shape, direction)
    this.#components.ofClass(named, shape, direction, () => {
      this.#checkParts(shape, direction)
      return UNWRITTEN
    })
  }

  #checkParts(shape: Shape, direction: Direction): void {
    switch (shape.kind) {
      case 'array':
        return this.check(shape.items, direction)
      case 'map':
        return this.check(shape.values, direction)
      case 'union':
        for (const option of shape.options().values()) this.check(option, direction)
        return
      case 'object':
        return this.#checkProperties(shape, direction)
      case 'standard':
        return this.#checkLifted(usableJsonSchemaOf(shape.schema, direction), direction)
      default:
    }
  }

  #checkProperties(shape: ObjectShape, direction: Direction): void {
    for (const [name, property] of propertiesOf(shape, direction)) {
      try {
        this.check(property.shape, direction)
      } catch (error) {
        throw placed(error, `${shape.name}.${name}`)
      }
      defaultAsJson(property)
    }
  }

  /** A parameter, with its default. @throws BootError */
  checkParameter(property: Property): void {
    this.check(property.shape, 'input')
    defaultAsJson(property)
  }

  /** The properties of a class, each of which is a parameter. @throws BootError */
  checkParameters(group: ObjectShape): void {
    if (this.#groups.has(group)) return
    for (const [, property] of propertiesOf(group, 'input')) this.checkParameter(property)
    this.#groups.add(group)
  }

  #checkLifted(json: JsonSchema, direction: Direction): void {
    if (this.#lifted[direction].has(json)) return
    this.#lifted[direction].add(json)
    liftDefinitions(json, (named, write) => this.#components.ofDefinition(named, direction, write))
  }
}
