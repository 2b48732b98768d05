import 'reflect-metadata'

/** Typed metadata that decorators write. The only file that uses reflect-metadata. */
export class MetadataKey<T> {
  readonly #symbol: symbol

  constructor(name: string) {
    this.#symbol = Symbol(name)
  }

  write(target: object, value: T, member?: string | symbol): void {
    if (member === undefined) Reflect.defineMetadata(this.#symbol, value, target)
    else Reflect.defineMetadata(this.#symbol, value, target, member)
  }

  /** The value of this class or member, not of its ancestors. */
  own(target: object, member?: string | symbol): T | undefined {
    return member === undefined
      ? Reflect.getOwnMetadata(this.#symbol, target)
      : Reflect.getOwnMetadata(this.#symbol, target, member)
  }

  /** The value of this class or member, or of the nearest ancestor that has one. */
  inherited(target: object, member?: string | symbol): T | undefined {
    return member === undefined
      ? Reflect.getMetadata(this.#symbol, target)
      : Reflect.getMetadata(this.#symbol, target, member)
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
