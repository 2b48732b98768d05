import { BootError } from '../core/boot-error.js'

/** A parameter's value cannot be built. `path` leads from the class that has the parameter to the one that failed. */
export class InjectionError extends BootError {
  override name = 'InjectionError'
  // Private: Node prints all public properties of an error, and the message contains both.
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

  /** Adds the owner to the front of an error's path. */
  static at(owner: string, error: unknown): unknown {
    if (error instanceof this) return new this([owner, ...error.path], error.reason)
    return error instanceof BootError ? new this([owner], error.message) : error
  }
}
