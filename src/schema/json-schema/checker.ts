import { type Direction, type ObjectShape, propertiesOf, type Property, type Shape } from '../shape/shape.js'
import { defaultAsJson, SchemaWriter } from './writer.js'

/**
 * Finds at startup what the writer of the OpenAPI document would refuse, by writing the schemas of shapes. It forgets them: the document is as large as
 * the app, and most processes are never asked for it. Shapes are checked in the order in which they are written: it decides which class has which name.
 */
export class SchemaChecker {
  readonly #writer = new SchemaWriter()
  // Many routes have the same types.
  readonly #checked = { input: new WeakSet<Shape>(), output: new WeakSet<Shape>() }

  /** The names of the components that were written. */
  get names(): ReadonlyMap<string, unknown> {
    return this.#writer.components
  }

  /** @throws BootError, as SchemaWriter.write() does. */
  check(shape: Shape, direction: Direction): void {
    if (this.#checked[direction].has(shape)) return
    this.#writer.write(shape, direction)
    this.#checked[direction].add(shape)
  }

  /** A parameter, with its default. @throws BootError */
  checkParameter(property: Property): void {
    this.check(property.shape, 'input')
    defaultAsJson(property)
  }

  /** The properties of a class, each of which is a parameter. @throws BootError */
  checkParameters(group: ObjectShape): void {
    for (const [, property] of propertiesOf(group, 'input')) this.checkParameter(property)
  }
}
