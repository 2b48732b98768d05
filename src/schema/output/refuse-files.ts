import { BootError } from '../../core/boot-error.js'
import { innerShapes, propertiesOf, type Shape } from '../shape/shape.js'

/**
 * Refuses a declared response with files, at any depth.
 *
 * @param where The response, for the message.
 * @throws BootError with what to write instead.
 */
export function refuseFiles(shape: Shape, where: string, seen = new Set<unknown>()): void {
  switch (shape.kind) {
    case 'file':
      throw new BootError(
        `${where} has a file, which JSON does not have. Return file(form.photo.stream()), or declare another class as the response.`,
      )
    case 'object':
      if (shape.rowKey || seen.has(shape.origin)) return // a model has no files
      seen.add(shape.origin)
      for (const [name, property] of propertiesOf(shape, 'output'))
        refuseFiles(property.shape, `${where}, ${shape.name}.${name}`, seen)
      return
    default:
      for (const inner of innerShapes(shape)) refuseFiles(inner, where, seen)
  }
}
