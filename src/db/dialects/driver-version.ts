import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { BootError } from '../../core/boot-error.js'
import type { Driver } from './check-driver.js'

/**
 * Refuses a driver that is older than the versions of which it is known that they work. A library that was not loaded as a package, such as one that the
 * program wraps, has no version.
 *
 * @throws BootError that names the installed version, and what to install.
 */
export function refuseOldDriver(
  { name, versions }: Pick<Driver<unknown>, 'name' | 'versions'>,
  library: unknown,
): void {
  const version = versionOf(library)
  const least = versions.replace(/^>=/, '')
  if (version === undefined || !isOlder(version, least)) return
  throw new BootError(
    `${name} ${version} is installed, with which some values, such as dates, cannot be read. ` +
      `This version of Sequitur works with ${name} ${versions}. Run: npm install ${name}@latest`,
  )
}

/** Drivers are CommonJS, so that they are in the cache of require(). */
function versionOf(library: unknown): string | undefined {
  const modules = Object.values(createRequire(import.meta.url).cache)
  const file = modules.find((module) => module?.exports === library)?.filename
  if (file === undefined) return undefined
  try {
    const { version } = JSON.parse(readFileSync(join(dirname(file), 'package.json'), 'utf8')) as { version?: unknown }
    return typeof version === 'string' ? version : undefined
  } catch {
    return undefined // a file of another kind: it is not known what it is
  }
}

function isOlder(version: string, least: string): boolean {
  const [given, needed] = [version, least].map((one) => one.split(/[.+-]/).slice(0, 3).map(Number))
  const at = needed?.findIndex((number, index) => number !== given?.[index]) ?? -1
  return at >= 0 && (given?.[at] ?? 0) < (needed?.[at] ?? 0)
}
