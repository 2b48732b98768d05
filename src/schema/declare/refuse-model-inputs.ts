import { BootError } from '../../core/boot-error.js'
import { type ObjectShape, propertiesOf, type Shape } from '../shape/shape.js'

/**
 * Refuses models in what a client sends, at any depth: they would take every column from it, also the key.
 *
 * @param where names the input in the message.
 * @throws BootError that says what to write instead.
 */
export function refuseModelInputs(shape: Shape, where: string): void {
  visit(shape, undefined, where, new Set())
}

/** `holder`: the property that the shape was found in, `Transfer.from`. */
function visit(shape: Shape, holder: string | undefined, where: string, seen: Set<unknown>): void {
  switch (shape.kind) {
    case 'array':
      return visit(shape.items, holder, where, seen)
    case 'union':
      for (const option of new Set(shape.options().values())) visit(option, holder, where, seen)
      return
    case 'object':
      return visitObject(shape, holder, where, seen)
    default:
  }
}

function visitObject(shape: ObjectShape, holder: string | undefined, where: string, seen: Set<unknown>): void {
  if (shape.rowKey) throw rowError(shape, shape.rowKey(), holder, where)
  if (seen.has(shape.origin)) return
  seen.add(shape.origin)
  for (const [name, property] of propertiesOf(shape, 'input'))
    visit(property.shape, `${shape.name}.${name}`, where, seen)
}

function rowError(
  { name, properties }: ObjectShape,
  key: readonly string[],
  holder: string | undefined,
  where: string,
): BootError {
  // A model without a key still has columns that a client should not choose.
  const given = [...properties()].filter(([, { generated, readOnly }]) => !generated && !readOnly)
  const [way, columns] = key.length > 0 ? ['omit', key] : ['pick', given.map(([column]) => column).slice(0, 1)]
  const chosen = `{ ${way}: [${columns.map((column) => `'${column}'`).join(', ')}] }`
  return new BootError(
    `${where}: ${holder ?? 'its type'} is the model ${name}, which would take every column from the client${key.length > 0 ? ', also the key' : ''}. ` +
      `Use in its place a class that says which: class ${name}Input extends dto(${name}, ${chosen}) {}, with omit or pick.`,
  )
}
