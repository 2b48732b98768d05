import { BootError } from '../core/boot-error.js'
import { refuseMissingCall } from '../core/options.js'
import { andThen } from '../core/promises.js'
import { MetadataKey } from './metadata.js'
import { type Constructor, isConstructor } from './token.js'

const factoryMethods = new MetadataKey<string>()

/** A decorator of a static method that returns instances of its class. */
export type FactoryDecorator = <T>(
  target: { readonly prototype: T },
  member: string,
  // any: its parameters are injected, and read at startup.
  // oxlint-disable-next-line typescript/no-explicit-any
  descriptor: { readonly value?: (...args: any[]) => NoInfer<T> | Promise<NoInfer<T>> },
) => void

/**
 * The static method that creates the instances of an `@Injectable()` class, instead of its constructor. It may be asynchronous, and its parameters
 * are injected as those of a handler are. Subclasses inherit it: it must return an instance of the class that it is called on.
 *
 * @throws BootError on a method that is not static, and for a second one in a class.
 * @example
 * @Injectable()
 * @Security({ type: 'http', scheme: 'bearer' })
 * class CurrentUser {
 *   constructor(readonly user: User) {}
 *
 *   @Factory()
 *   static async of(session: Session, @Header({ optional: true }) authorization: string = '') {
 *     const user = await session.first(select(User, { where: { token: authorization.replace('Bearer ', '') } }))
 *     return new CurrentUser(user ?? unauthorized())
 *   }
 * }
 */
export function Factory(): FactoryDecorator {
  refuseMissingCall('@Factory()', arguments)
  return (target: object, member: string) => {
    refuseOther(target, member)
    factoryMethods.write(target, member)
  }
}

function refuseOther(target: object, member: string): void {
  if (!isConstructor(target))
    throw new BootError(
      `@Factory() on ${target.constructor.name}.${member}: it creates the instances, so that there is none to call it on. Write static ${member}(...) { ... }.`,
    )
  const other = factoryMethods.own(target)
  if (other !== undefined)
    throw new BootError(`${target.name} has two methods with @Factory(), ${other} and ${member}. Keep one.`)
}

/** The name of the static method that creates the instances of a class, or of the class that it extends. */
export function factoryMethodOf(type: Constructor): string | undefined {
  return factoryMethods.inherited(type)
}

/** Calls this static method of the class. Throws, or rejects with, a TypeError when it returns something else than an instance. */
export function instancesFrom(type: Constructor, member: string): (...args: unknown[]) => unknown {
  return (...args) =>
    andThen(Reflect.apply(Reflect.get(type, member), type, args) as unknown, (value) => {
      if (value instanceof type) return value
      throw new TypeError(
        `${type.name}.${member}() with @Factory() returned no instance of ${type.name}. ` +
          `Return one: new ${type.name}(...), or new this(...) if subclasses inherit the method.`,
      )
    })
}
