import { BootError } from '../core/boot-error.js'
import { list, type OptionCheck } from '../core/option-checks.js'
import { NOT_LOADED, shown } from '../core/options.js'

// any: a token may be a class with any constructor; the planner reads its parameters.
// oxlint-disable-next-line typescript/no-explicit-any
export type Constructor<T = unknown> = abstract new (...args: any[]) => T

/** Identifies a value that has no class; made by {@link token}. */
export class NamedToken<T> {
  readonly name: string
  /** Exists only for the compiler: the type of the value. */
  declare readonly yields: T

  constructor(name: string) {
    this.name = name
  }
}

/**
 * A token for a value that has no class: settings, a client of a library, an interface.
 *
 * @example
 * const mailer = token<Mailer>('mailer')
 * createApp({ controllers: [MailController], providers: [provide(mailer, { value: new SmtpMailer() })] })
 * // in a controller: send(@Inject(mailer) mail: Mailer) {}
 */
export function token<T>(name: string): NamedToken<T> {
  return new NamedToken<T>(name)
}

/** Identifies an injectable value of type `T`: a class, or a {@link NamedToken}. */
export type Token<T = unknown> = Constructor<T> | NamedToken<T>

/** Declares to the compiler which type a class injects, when that is not its instance type: the generic `Paginate`. */
export interface Yields<T> {
  readonly yields: T
}

/** The type of the value that a token, or the constructor of a primitive, injects. */
export type Injected<K> =
  K extends NamedToken<infer T>
    ? T
    : K extends NumberConstructor
      ? number
      : K extends StringConstructor
        ? string
        : K extends BooleanConstructor
          ? boolean
          : K extends BigIntConstructor
            ? bigint
            : K extends Yields<infer T>
              ? T
              : K extends abstract new (...args: never[]) => infer T
                ? T
                : never

export function isConstructor(value: unknown): value is Constructor {
  return typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null
}

export function isToken(value: unknown): value is Token {
  return value instanceof NamedToken || isConstructor(value)
}

export function tokenName(token: Token): string {
  return token.name || '(anonymous class)'
}

/** A list of classes; `example` is one of them. */
export function classes(example: string): OptionCheck {
  return list(example, (entry, place) => {
    if (isConstructor(entry)) return
    const advice = entry === undefined ? NOT_LOADED : `Write the class itself, as in [${example}].`
    throw new BootError(`${place} is ${shown(entry)}. ${advice}`)
  })
}
