import { BootError } from '../core/boot-error.js'

/** Something that a parameter asks for cannot be built. `path` leads from the class that asked to the one that failed. */
export class InjectionError extends BootError {
  override name = 'InjectionError'
  // Private, as Node shows all other properties beside the message, which says the same.
  readonly #path: readonly string[]
  readonly #reason: string

  constructor(path: readonly string[], reason: string) {
    super(path.length > 1 ? `Cannot build ${path.join(' -> ')}:\n${reason}` : reason)
    this.#path = path
    this.#reason = reason
  }

  get path(): readonly string[] {
    return this.#path
  }

  get reason(): string {
    return this.#reason
  }

  /** The same error, seen from one step further out: the path grows while the error travels up. */
  static at(owner: string, error: unknown): unknown {
    if (error instanceof InjectionError) return new InjectionError([owner, ...error.path], error.reason)
    return error instanceof BootError ? new InjectionError([owner], error.message) : error
  }
}
