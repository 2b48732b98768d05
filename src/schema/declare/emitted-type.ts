import { BootError } from '../../core/boot-error.js'
import { isConstructor } from '../../di/token.js'
import { isDescribed } from '../shape/shape-of.js'
import type { Shape } from '../shape/shape.js'
import { type StandardSchema, writtenJsonSchema } from '../shape/standard-schema.js'

type Kind = Exclude<Shape['kind'], 'enum' | 'array' | 'object' | 'union' | 'standard' | 'any' | 'file'>

/** The classes of the values that an input of this kind has. */
const RECEIVED: Readonly<Record<Kind, readonly unknown[]>> = {
  string: [String],
  date: [String],
  decimal: [String],
  integer: [Number],
  number: [Number],
  boolean: [Boolean],
  bigint: [BigInt],
  'date-time': [Date],
  bytes: [Buffer, Uint8Array],
  map: [Object],
}

/** The other classes whose values a response may have: a model has a BIGINT as a string. */
const SENT: Readonly<Partial<Record<Shape['kind'], readonly unknown[]>>> = {
  date: [Date],
  decimal: [Number],
  bigint: [String],
  'date-time': [String],
}

/** The classes that the compiler emits for types whose values have one class only. For others it emits Object, or a class that may have descendants. */
const KNOWN: ReadonlySet<unknown> = new Set([String, Number, Boolean, BigInt, Date, Array, Buffer, Uint8Array])

/**
 * Compares the type that the compiler emitted for a property or a parameter with the declared one.
 *
 * @param use `'received'` for an input, `'declared'` for a field, whose class may be that of an input or of an output.
 * @param where a function, because few of thousands of properties need a message.
 * @throws BootError when no value can have both.
 */
export function refuseOtherEmitted(
  shape: Shape,
  emitted: unknown,
  use: 'received' | 'declared',
  where: () => string,
): void {
  const isKnown = KNOWN.has(emitted)
  if (!isKnown && !isDescribed(emitted)) return
  const expected = classesOf(shape)
  if (!expected || expected.includes(emitted) || (!isKnown && expected.includes(Object))) return
  if (use === 'declared' && SENT[shape.kind]?.includes(emitted)) return
  throw new BootError(
    `${where()}: its type is ${typeName(emitted)}, but it is declared as ${declaredAs(shape)}, whose values are of type ${expected.map(typeName).join(' or ')}. ` +
      `Write that type, or declare another one.`,
  )
}

/** Undefined for shapes whose values may be of any class; Object for those of classes. */
function classesOf(shape: Shape): readonly unknown[] | undefined {
  switch (shape.kind) {
    case 'enum':
      return [...new Set(shape.values.map((value) => (typeof value === 'string' ? String : Number)))]
    case 'array':
      return [Array]
    case 'object':
    case 'union':
      return [Object]
    case 'standard':
      return classesOfSchema(shape.schema)
    case 'file':
      return [shape.type]
    case 'any':
      return undefined
    default:
      return RECEIVED[shape.kind]
  }
}

const JSON_CLASSES: Readonly<Record<string, readonly unknown[]>> = {
  string: [String, Date, BigInt, Buffer, Uint8Array], // a library may convert strings to these
  number: [Number],
  integer: [Number],
  boolean: [Boolean],
  object: [Object],
  array: [Array],
}

function classesOfSchema(schema: StandardSchema): readonly unknown[] | undefined {
  const type = writtenJsonSchema(schema, 'output')?.['type']
  return typeof type === 'string' ? JSON_CLASSES[type] : undefined
}

function declaredAs(shape: Shape): string {
  if (shape.kind === 'enum') return `enum: [${shape.values.map((value) => JSON.stringify(value)).join(', ')}]`
  if (shape.kind === 'array') return 'a list'
  if (shape.kind === 'object') return shape.name
  if (shape.kind === 'standard') return `a schema of ${shape.schema['~standard'].vendor}`
  return shape.kind === 'union' ? 'oneOf' : `'${shape.kind}'`
}

const PRIMITIVES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [String, 'string'],
  [Number, 'number'],
  [Boolean, 'boolean'],
  [BigInt, 'bigint'],
  [Array, 'a list'],
  [Object, 'object'],
])

function typeName(type: unknown): string {
  return PRIMITIVES.get(type) ?? (isConstructor(type) ? type.name : String(type))
}
