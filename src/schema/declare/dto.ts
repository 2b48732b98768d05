import { BootError } from '../../core/boot-error.js'
import { checkOptions, list, type OptionChecks, unchecked } from '../../core/option-checks.js'
import { NOT_LOADED, shown } from '../../core/options.js'
import { defined } from '../../core/records.js'
import { type Constructor, isConstructor } from '../../di/token.js'
import { fieldsOf, isInstantiable } from '../shape/fields.js'
import { describedBy, type Attributed, type Data, type Property, type Shape } from '../shape/shape.js'
import { shapeOf } from '../shape/shape-of.js'

// A model declares its creation attributes, some of which are optional, separately from its attributes.
type Writable<T> = T extends { readonly _creationAttributes: infer C } ? C : Data<T>

// A model's associations can be picked, too.
type Keys<T> = (keyof Data<T> | Associated<T>) & string

type Associated<T> = {
  [K in keyof T]-?: NonNullable<T[K]> extends Attributed<unknown> | readonly Attributed<unknown>[] ? K : never
}[keyof T]

type Partly<T, Options> = Options extends { readonly partial: true } ? Partial<T> : T

type Selected<T, Options> = Options extends { readonly pick: readonly (infer K)[] }
  ? Pick<Writable<T>, K & keyof Writable<T>>
  : Options extends { readonly omit: readonly (infer K)[] }
    ? Omit<Writable<T>, K & keyof Writable<T>>
    : Writable<T>

/** Which properties the class has: `pick` or `omit`, not both. */
export interface DtoOptions<K extends string> {
  readonly pick?: readonly K[]
  readonly omit?: readonly K[]
  /** Makes every property optional. */
  readonly partial?: boolean
  /** The name of the OpenAPI component when the class is used without `extends`. */
  readonly name?: string
}

const DTO_OPTIONS: OptionChecks<DtoOptions<string>> = {
  omit: list(`'id'`),
  pick: list(`'name'`),
  partial: unchecked,
  name: unchecked,
}

/**
 * A class with some of the properties of a model or of another class, to be used as an input or a response.
 * A model itself cannot be an input: a client could set every column, including the primary key.
 * Columns that the database sets (an auto-incremented key, a default) are optional. Associations are included only if they are picked.
 *
 * @throws BootError when a picked or omitted property does not exist, or when both `pick` and `omit` are given.
 * @example
 * class HeroInput extends dto(Hero, { omit: ['id'] }) {}
 * class HeroPatch extends dto(Hero, { pick: ['age'], partial: true }) {}
 */
export function dto<T, const O extends DtoOptions<Keys<T>>>(
  source: Constructor<T>,
  options: O,
): new () => Partly<Selected<T, O>, O> {
  if (!isConstructor(source))
    throw new BootError(
      `dto(${shown(source)}, ...) requires a class. ${source === undefined ? NOT_LOADED : 'Write the class itself.'}`,
    )
  checkOptions(`dto(${source.name}, ...)`, options, DTO_OPTIONS)
  if (options.pick && options.omit) throw new BootError(`dto(${source.name}, ...): write pick or omit, not both.`)
  const derived = class {}
  const name = options.name ?? `${source.name}Dto`
  Object.defineProperty(derived, 'name', { value: name })
  describedBy.write(derived, (type) => derive(source, options, type))
  // The type has properties that the class does not declare at run time: decoding sets them, as in every class with @Field()s.
  return derived as unknown as new () => Partly<Selected<T, O>, O>
}

function derive(source: Constructor, options: DtoOptions<string>, type: Constructor): Shape {
  const shape = shapeOf(source)
  if (shape.kind !== 'object')
    throw new BootError(`dto(${source.name}, ...): ${source.name} has no properties to choose from.`)
  const { read, keyNames } = shape
  return {
    kind: 'object',
    name: type.name,
    origin: type,
    source: shape.source ?? source,
    properties: () =>
      new Map([...select((shape.selectable ?? shape.properties)(), options, source.name), ...ownFields(type)]),
    ...defined({ read, keyNames, instance: isInstantiable(type) ? type : undefined }),
  }
}

// The fields that a subclass adds: `class HeroInput extends dto(Hero, ...) { @Field() invitation!: string }`.
function ownFields(type: Constructor): [string, Property][] {
  return [...(fieldsOf(type) ?? [])].map(([name, property]) => [name, property(type)])
}

function select(
  properties: ReadonlyMap<string, Property>,
  options: DtoOptions<string>,
  source: string,
): ReadonlyMap<string, Property> {
  const unknown = [...(options.pick ?? []), ...(options.omit ?? [])].filter((name) => !properties.has(name))
  if (unknown.length > 0) {
    throw new BootError(
      `dto(${source}, ...): ${source} has no ${unknown.join(', ')}. It has ${[...properties.keys()].join(', ')}.`,
    )
  }
  const kept = [...properties].filter(([name, { associated }]) =>
    options.pick ? options.pick.includes(name) : !associated && !options.omit?.includes(name),
  )
  return new Map(options.partial ? kept.map(([name, property]) => [name, toPatch(property)]) : kept)
}

// A patch must not set the properties that the client omits to their defaults.
function toPatch({ generated: _generated, default: _default, initial: _initial, ...rest }: Property): Property {
  return { ...rest, optional: true }
}
