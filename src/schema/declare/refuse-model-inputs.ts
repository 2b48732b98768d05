import { BootError } from '../../core/boot-error.js'
import { type ObjectShape, propertiesOf, type Shape } from '../shape/shape.js'

/**
 * Refuses models in inputs, at any depth: a client could set every column, including the primary key.
 *
 * @param where The input, for the message.
 * @throws BootError with the class to write instead.
 */
export function refuseModelInputs(shape: Shape, where: string): void {
  visit(shape, undefined, where, new Set())
}

/** @param holder The property that has the shape: `Transfer.from`. */
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
  if (shape.rowKey) throw modelError(shape, shape.rowKey(), holder, where)
  if (seen.has(shape.origin)) return
  seen.add(shape.origin)
  for (const [name, property] of propertiesOf(shape, 'input'))
    visit(property.shape, `${shape.name}.${name}`, where, seen)
}

function modelError(
  { name, properties }: ObjectShape,
  key: readonly string[],
  holder: string | undefined,
  where: string,
): BootError {
  // Without a primary key there is nothing to omit: the message suggests to pick one column.
  const given = [...properties()].filter(([, { generated, readOnly }]) => !generated && !readOnly)
  const [way, columns] = key.length > 0 ? ['omit', key] : ['pick', given.map(([column]) => column).slice(0, 1)]
  const chosen = `{ ${way}: [${columns.map((column) => `'${column}'`).join(', ')}] }`
  return new BootError(
    `${where}: ${holder ?? 'its type'} is the model ${name}, so a client could set every column${key.length > 0 ? ', including the primary key' : ''}. ` +
      `Instead, use a class with the columns that a client may set: class ${name}Input extends dto(${name}, ${chosen}) {}, with omit or pick.`,
  )
}
