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

/** The parameter types that the compiler emitted for a method (`target` is the prototype) or a constructor. */
export function emittedParameterTypes(target: object, member?: string): readonly unknown[] | undefined {
  return member === undefined
    ? Reflect.getMetadata('design:paramtypes', target)
    : Reflect.getMetadata('design:paramtypes', target, member)
}

/** The type that the compiler emitted for a property. */
export function emittedPropertyType(prototype: object, property: string): unknown {
  return Reflect.getMetadata('design:type', prototype, property)
}
