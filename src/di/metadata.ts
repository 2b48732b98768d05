import 'reflect-metadata'

/* The only file that uses reflect-metadata: it holds what compilers emit. */

/** Typed metadata that decorators write on a class, a prototype or one of its members. */
export class MetadataKey<T> {
  readonly #ofTargets = new WeakMap<object, T>()
  readonly #ofMembers = new WeakMap<object, Map<string | symbol, T>>()

  write(target: object, value: T, member?: string | symbol): void {
    if (member === undefined) this.#ofTargets.set(target, value)
    else {
      const members = this.#ofMembers.get(target) ?? new Map<string | symbol, T>()
      this.#ofMembers.set(target, members.set(member, value))
    }
  }

  /** The value of this class or member, not of its ancestors. */
  own(target: object, member?: string | symbol): T | undefined {
    return member === undefined ? this.#ofTargets.get(target) : this.#ofMembers.get(target)?.get(member)
  }

  /** The value of this class or member, or of the nearest ancestor that has one. */
  inherited(target: object, member?: string | symbol): T | undefined {
    for (let type: object | null = target; type !== null; type = Object.getPrototypeOf(type)) {
      const value = this.own(type, member)
      if (value !== undefined) return value
    }
    return undefined
  }
}

/** The parameter types that the compiler emitted for the constructor of this class; its parent's constructor is another one. */
export function emittedConstructorTypes(type: object): readonly unknown[] | undefined {
  return Reflect.getOwnMetadata('design:paramtypes', type)
}

/** The parameter types that the compiler emitted for a method, or for the one it overrides. */
export function emittedMethodTypes(prototype: object, member: string): readonly unknown[] | undefined {
  return Reflect.getMetadata('design:paramtypes', prototype, member)
}

/** Whether this class, not an ancestor, declares the method with a decorator. */
export function declaresMethod(prototype: object, member: string): boolean {
  return Reflect.hasOwnMetadata('design:paramtypes', prototype, member)
}

/** Whether a property is written with a `?`: known only when `sequitur/register` compiled the file. */
export function isOptionalProperty(prototype: object, property: string): boolean {
  return Reflect.getOwnMetadata('design:optional', prototype, property) === true
}

/** The type that the compiler emitted for a property. */
export function emittedPropertyType(prototype: object, property: string): unknown {
  return Reflect.getMetadata('design:type', prototype, property)
}
