import 'reflect-metadata'

/** The one door to Reflect: what decorators wrote, under a key that knows its type. */
export class MetadataKey<T> {
  readonly #symbol: symbol

  constructor(name: string) {
    this.#symbol = Symbol(name)
  }

  write(target: object, value: T, member?: string): void {
    if (member === undefined) Reflect.defineMetadata(this.#symbol, value, target)
    else Reflect.defineMetadata(this.#symbol, value, target, member)
  }

  /** What was written on this very class or member. */
  own(target: object, member?: string): T | undefined {
    return member === undefined
      ? Reflect.getOwnMetadata(this.#symbol, target)
      : Reflect.getOwnMetadata(this.#symbol, target, member)
  }

  /** What was written on this class or member, or on the nearest ancestor's. */
  inherited(target: object, member?: string): T | undefined {
    return member === undefined
      ? Reflect.getMetadata(this.#symbol, target)
      : Reflect.getMetadata(this.#symbol, target, member)
  }
}

/** The parameter types that the compiler emitted for a constructor: of this very class, as its parent's are of another constructor. */
export function emittedConstructorTypes(type: object): readonly unknown[] | undefined {
  return Reflect.getOwnMetadata('design:paramtypes', type)
}

/** The parameter types that the compiler emitted for a method, or for the one that it overrides. */
export function emittedMethodTypes(prototype: object, member: string): readonly unknown[] | undefined {
  return Reflect.getMetadata('design:paramtypes', prototype, member)
}

/** Whether this very class declares the method, with a decorator. */
export function declaresMethod(prototype: object, member: string): boolean {
  return Reflect.hasOwnMetadata('design:paramtypes', prototype, member)
}

/** The type that the compiler emitted for a property. */
export function emittedPropertyType(prototype: object, property: string): unknown {
  return Reflect.getMetadata('design:type', prototype, property)
}
