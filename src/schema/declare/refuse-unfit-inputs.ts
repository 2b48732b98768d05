import { BootError, withPlace } from '../../core/boot-error.js'
import { refuseOtherEmitted } from './emitted-type.js'
import { usableJsonSchemaOf } from '../output/json-schema-validator.js'
import { innerShapes, type ObjectShape, propertiesOf, type Shape } from '../shape/shape.js'

/**
 * Refuses in inputs, at any depth, models, of which a client could set every column, including the primary key, fields whose type is that of
 * responses only, `@Field({ type: 'bigint' }) size!: string`, getters without a setter, schemas of other libraries without a JSON Schema, and
 * files.
 *
 * @param where The input, for the message.
 * @throws BootError with what to write instead.
 */
export function refuseUnfitInputs(shape: Shape, where: string): void {
  if (shape.kind === 'object' && fit.has(shape)) return
  visit(shape, undefined, { where, takesFiles: false, seen: new Set() })
  if (shape.kind === 'object') fit.add(shape)
}

/** As {@link refuseUnfitInputs}, but for files. */
export function refuseUnfitForms(shape: Shape, where: string): void {
  visit(shape, undefined, { where, takesFiles: true, seen: new Set() })
}

interface Visit {
  readonly where: string
  readonly takesFiles: boolean
  readonly seen: Set<unknown>
}

/** The classes without anything unfit: several routes may receive them. */
const fit = new WeakSet<ObjectShape>()

/** @param holder The property that has the shape: `Transfer.from`. */
function visit(shape: Shape, holder: string | undefined, visited: Visit): void {
  const { where, takesFiles } = visited
  switch (shape.kind) {
    case 'object':
      return visitObject(shape, holder, visited)
    case 'standard':
      withPlace(holder === undefined ? where : `${where}, ${holder}`, () => usableJsonSchemaOf(shape.schema, 'input'))
      return
    case 'file':
      if (!takesFiles) throw fileError(holder, where)
      return
    default:
      for (const inner of innerShapes(shape)) visit(inner, holder, visited)
  }
}

function visitObject(shape: ObjectShape, holder: string | undefined, visited: Visit): void {
  const { where, seen } = visited
  if (shape.rowKey) throw modelError(shape, shape.rowKey(), holder, where)
  if (seen.has(shape.origin)) return
  seen.add(shape.origin)
  for (const [name, property] of propertiesOf(shape, 'input')) {
    refuseOtherEmitted(property.shape, property.emitted, 'received', () => `${where}, ${shape.name}.${name}`)
    if (shape.instance && name in shape.instance.prototype && hasGetterOnly(shape.instance.prototype, name))
      throw getterError(shape.name, name, where)
    visit(property.shape, `${shape.name}.${name}`, visited)
  }
}

function fileError(holder: string | undefined, where: string): BootError {
  return new BootError(
    `${where}: ${holder ?? 'its type'} is a file, which only a multipart form has. ` +
      `Receive a class with @File() properties by @Multipart() of 'sequitur/uploads': create(@Multipart() form: NewPhoto).`,
  )
}

function hasGetterOnly(prototype: object | null, name: string): boolean {
  if (prototype === null) return false
  const own = Object.getOwnPropertyDescriptor(prototype, name)
  return own ? own.get !== undefined && own.set === undefined : hasGetterOnly(Object.getPrototypeOf(prototype), name)
}

function getterError(type: string, name: string, where: string): BootError {
  return new BootError(
    `${where}, ${type}.${name}: a getter without a setter cannot be received. ` +
      `Write a property, @Field() ${name}!: ..., or add a setter. If only responses have it, use another class as the input: ` +
      `class ${type}Input extends dto(${type}, { omit: ['${name}'] }) {}.`,
  )
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
