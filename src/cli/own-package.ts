import { readFileSync } from 'node:fs'

/**
 * The folder of this package: the same from src/cli and from dist/cli. That of src/core/package-copies.ts would count this command as a copy of the
 * package next to that of the program.
 */
export const PACKAGE_ROOT = new URL('../../', import.meta.url)

/** Versions or scripts, by name. */
export type Strings = Readonly<Record<string, string>>

/** The package.json of this package, as far as the commands need it. */
interface OwnManifest {
  readonly version: string
  readonly engines: Strings
  readonly peerDependencies: Strings
  readonly devDependencies: Strings
}

export function ownManifest(): OwnManifest {
  return JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8'))
}
