import { BootError } from '../../core/boot-error.js'
import { type Constructor, isConstructor } from '../../di/token.js'
import { memo } from '../../core/memo.js'
import type { DataOf, Described, ObjectShape, Shape, UnionShape } from '../shape/shape.js'
import { shapeOf } from '../shape/shape-of.js'

/** A class, or a function that returns one that is declared later in the file. */
export type Member = Constructor | (() => Constructor)

type MemberData<M> = M extends Constructor ? DataOf<M> : M extends () => infer C ? DataOf<C> : never

export interface OneOfOptions<K extends PropertyKey> {
  /** The property that distinguishes the classes. Each declares its own values of it: `@Field({ enum: ['cat'] }) kind!: 'cat'`. */
  readonly discriminator: K & string
  /** The name of the OpenAPI component. Without it, the union is written inline wherever it is used. */
  readonly name?: string
}

/**
 * One of several classes. Use it as a response, in `Page.of(...)` or `[...]`, or as the type of a field or a body.
 *
 * @throws BootError (from `createApp()`) for classes that the discriminator does not distinguish.
 * @example
 * const Pet = oneOf([Cat, Dog], { discriminator: 'kind', name: 'Pet' })
 * // @Get('/', Page.of(Pet)) list() {}
 */
export function oneOf<const M extends readonly Member[]>(
  members: M,
  { discriminator, name }: OneOfOptions<keyof MemberData<M[number]>>,
): Described<MemberData<M[number]>> {
  const origin = {}
  const where = name ?? 'oneOf()'
  const shape = memo((): Shape => ({
    ...unionShape(members.map(shapeOf), discriminator, where),
    ...(name === undefined ? {} : { named: { name, origin } }),
  }))
  return { shape }
}

/**
 * One of several classes, distinguished by a property whose values each of them declares: `@Field({ enum: ['cat'] }) kind!: 'cat'`.
 *
 * @throws BootError when a class does not declare the property, or when two classes declare the same value.
 */
export function unionShape(shapes: readonly Shape[], discriminator: string | undefined, where: string): UnionShape {
  if (shapes.length === 0) throw new BootError(`${where}: oneOf is empty. Write the classes: [Cat, Dog].`)
  if (discriminator === undefined)
    throw new BootError(
      `${where}: oneOf requires the property that distinguishes its classes. Add it: discriminator: 'kind'.`,
    )
  const options = shapes.map((shape): ObjectShape => {
    if (shape.kind === 'object') return shape
    throw new BootError(`${where}: oneOf requires classes with @Field()s, got '${shape.kind}'.`)
  })
  // Evaluated later: a class may refer to the one that is still being declared.
  return { kind: 'union', discriminator, options: () => byTag(options, discriminator, where) }
}

/** One of several classes, distinguished by the class of the value: of responses only, as JSON does not say the class. */
export function unionOfClasses(classes: readonly unknown[]): { readonly shape: () => UnionShape } {
  const shape = memo((): UnionShape => {
    const options = new Map(classes.map((type) => [type, classShape(type)]))
    return { kind: 'union', discriminator: 'constructor', isByClass: true, options: () => options }
  })
  return { shape }
}

function classShape(type: unknown): ObjectShape {
  const shape = shapeOf(type)
  if (shape.kind === 'object' && isConstructor(type)) return shape
  throw new BootError(`Events.of(): several types have to be classes with @Field()s, got '${shape.kind}'.`)
}

function byTag(
  options: readonly ObjectShape[],
  discriminator: string,
  where: string,
): ReadonlyMap<unknown, ObjectShape> {
  const tags = new Map<unknown, ObjectShape>()
  for (const option of options) {
    for (const tag of tagsOf(option, discriminator, where)) {
      const other = tags.get(tag)
      if (other)
        throw new BootError(`${where}: ${other.name} and ${option.name} both have the ${discriminator} '${tag}'.`)
      tags.set(tag, option)
    }
  }
  return tags
}

function tagsOf(option: ObjectShape, discriminator: string, where: string): readonly (string | number)[] {
  const property = option.properties().get(discriminator)
  if (property?.shape.kind === 'enum' && !property.optional && !property.shape.nullable) return property.shape.values
  throw new BootError(
    `${where}: ${option.name} does not declare its values of ${discriminator}. Add @Field({ enum: ['...'] }) ${discriminator} to it.`,
  )
}
