import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { BootError } from '../core/boot-error.js'

/** The versions that are tested, as in package.json. Other ones may lack private members that are used here. */
export const SUPPORTED_VERSIONS = {
  sequelize: '~6.37.8',
  pg: '~8.23.1',
  sqlite3: '~6.0.1',
  mysql2: '^3.15.0',
  mariadb: '~3.5.4',
} as const

type PackageName = keyof typeof SUPPORTED_VERSIONS

/**
 * Refuses a package whose version is not supported. A library that was not loaded as this package, such as one that the program wraps, has no version.
 *
 * @param library what the package exports.
 * @throws BootError that names the installed version, and what to install.
 */
export function requireSupported(name: PackageName, library: unknown): void {
  const version = versionOf(name, library)
  const range = SUPPORTED_VERSIONS[name]
  if (version === undefined || isInRange(version, range)) return
  throw new BootError(
    `${name} ${version} is installed, but this version of Sequitur works with ${name} ${range}. Run: npm install "${name}@${range}"`,
  )
}

/** All of them are CommonJS, so that they are in the cache of require(). */
function versionOf(name: PackageName, library: unknown): string | undefined {
  const modules = Object.values(createRequire(import.meta.url).cache)
  const file = modules.find((module) => module?.exports === library)?.filename
  return file === undefined ? undefined : packageVersion(name, dirname(file))
}

/** From the nearest package.json in this folder or above. */
function packageVersion(name: PackageName, folder: string): string | undefined {
  try {
    const found = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      name?: unknown
      version?: unknown
    }
    if (found.name === name && typeof found.version === 'string') return found.version
  } catch {
    // not in this folder
  }
  return dirname(folder) === folder ? undefined : packageVersion(name, dirname(folder))
}

/** '~6.37.8' is 6.37.8 or a later patch, '^3.15.0' is 3.15.0 or a later minor. */
function isInRange(version: string, range: string): boolean {
  const [major, minor, patch] = numbersOf(version)
  const [leastMajor, leastMinor, leastPatch] = numbersOf(range.slice(1))
  if (major !== leastMajor) return false
  if (minor !== leastMinor) return range.startsWith('^') && minor > leastMinor
  return patch >= leastPatch
}

function numbersOf(version: string): readonly [major: number, minor: number, patch: number] {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/, 3).map(Number)
  return [major, minor, patch]
}
