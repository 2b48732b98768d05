import { BootError, withPlace } from '../../core/boot-error.js'
import { refuseOtherEmitted } from './emitted-type.js'
import { usableJsonSchemaOf } from '../output/json-schema-validator.js'
import { type ObjectShape, propertiesOf, type Shape } from '../shape/shape.js'

/**
 * Refuses in inputs, at any depth, models, of which a client could set every column, including the primary key, fields whose type is that of
 * responses only, `@Field({ type: 'bigint' }) size!: string`, getters without a setter, and schemas of other libraries without a JSON Schema.
 *
 * @param where The input, for the message.
 * @throws BootError with what to write instead.
 */
export function refuseUnfitInputs(shape: Shape, where: string): void {
  if (shape.kind === 'object' && fit.has(shape)) return
  visit(shape, undefined, where, new Set())
  if (shape.kind === 'object') fit.add(shape)
}

/** The classes of which nothing is unfit: several routes may receive them. */
const fit = new WeakSet<ObjectShape>()

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
    case 'standard': {
      withPlace(holder === undefined ? where : `${where}, ${holder}`, () => usableJsonSchemaOf(shape.schema, 'input'))
      return
    }
    default:
  }
}

/** Whether a shape has parts, or is one of another library. Any other is fit. */
function mayBeUnfit({ kind }: Shape): boolean {
  return kind === 'object' || kind === 'array' || kind === 'union' || kind === 'standard'
}

function visitObject(shape: ObjectShape, holder: string | undefined, where: string, seen: Set<unknown>): void {
  if (shape.rowKey) throw modelError(shape, shape.rowKey(), holder, where)
  if (seen.has(shape.origin)) return
  seen.add(shape.origin)
  for (const [name, property] of propertiesOf(shape, 'input')) {
    refuseOtherEmitted(property.shape, property.emitted, 'received', () => `${where}, ${shape.name}.${name}`)
    if (shape.instance && name in shape.instance.prototype && hasGetterOnly(shape.instance.prototype, name))
      throw getterError(shape.name, name, where)
    if (mayBeUnfit(property.shape)) visit(property.shape, `${shape.name}.${name}`, where, seen)
  }
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
