// any: a token is a class with whatever constructor; what it asks for is the plan's business.
// oxlint-disable-next-line typescript/no-explicit-any
export type Constructor<T = unknown> = abstract new (...args: any[]) => T

/** What stands for a value that has no class of its own; made by {@link token}. */
export class NamedToken<T> {
  readonly name: string
  /** Only for the compiler: what the token stands for. */
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
 * createApp({ controllers, providers: [provide(mailer, { value: new SmtpMailer() })] })
 * // in a controller: send(@Inject(mailer) mail: Mailer) {}
 */
export function token<T>(name: string): NamedToken<T> {
  return new NamedToken<T>(name)
}

/** What a parameter can name to be given a `T`: a class, or a {@link NamedToken}. */
export type Token<T = unknown> = Constructor<T> | NamedToken<T>

/** A class whose instances are not what `new` says, such as the generic `Paginate`, tells the compiler (only it) what is injected. */
export interface Yields<T> {
  readonly yields: T
}

/** The value that a token, or a primitive's constructor, stands for. */
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
