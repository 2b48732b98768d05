import { BootError } from '../core/boot-error.js'
import { packageManager } from '../core/package-manager.js'

/**
 * Loads an optional peer dependency.
 *
 * @param where the function that needs it: `metrics()`.
 * @throws BootError when it is not installed.
 */
export function loadPeer<T>(load: () => T, name: string, where: string): T {
  try {
    return load()
  } catch (cause) {
    throw new BootError(
      `${where} needs the package ${name}, which cannot be loaded. Install it: ${packageManager().add(name)}`,
      {
        cause,
      },
    )
  }
}
