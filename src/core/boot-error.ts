import { StartupError } from './startup-error.js'

/** A mistake in the program, found at startup. The message states what is wrong, where, and what to write instead. */
export class BootError extends StartupError {
  override name = 'BootError'
}

/** Calls `make`, and adds the place to the message of a BootError. */
export function withPlace<T>(where: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw placed(error, where)
  }
}

/** An error, with the place in its message if it is a BootError. */
export function placed(error: unknown, where: string): unknown {
  return error instanceof BootError ? new BootError(`${where}: ${error.message}`) : error
}
