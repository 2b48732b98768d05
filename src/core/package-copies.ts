import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { BootError } from './boot-error.js'

/** The folder of this package. The same from src/core and from dist/core, where the bundled files are that several entry points share. */
export const PACKAGE_ROOT = new URL('../../', import.meta.url)

/** The folders of all copies of this package in the process: their classes and decorators do not know each other. */
const folders = foldersOfAllCopies()
folders.add(fileURLToPath(new URL('..', import.meta.url)))

function foldersOfAllCopies(): Set<string> {
  const global: { [key: symbol]: Set<string> | undefined } = globalThis
  return (global[Symbol.for('sequitur.folders')] ??= new Set())
}

/** The file of each package that is loaded with it. All are CommonJS, so that they are in the cache of require(). */
const LOADED_FILES = {
  sequelize: /^([^]*[\\/]sequelize)[\\/]lib[\\/]sequelize\.js$/,
  'sequelize-typescript': /^([^]*[\\/]sequelize-typescript)[\\/]dist[\\/]index\.js$/,
} as const

/** @throws BootError when this package, or with a database one whose classes it shares with the program, is loaded from two folders. */
export function refuseSecondCopies({ hasDatabase }: { readonly hasDatabase: boolean }): void {
  refuseSecond('sequitur', [...folders])
  if (!hasDatabase) return
  const files = Object.keys(createRequire(import.meta.url).cache)
  for (const [name, file] of Object.entries(LOADED_FILES))
    refuseSecond(
      name,
      files.flatMap((path) => file.exec(path)?.[1] ?? []),
    )
}

function refuseSecond(name: string, copies: readonly string[]): void {
  if (copies.length < 2) return
  throw new BootError(
    `${copies.length} copies of ${name} are loaded, and instanceof is false between them:\n${copies.map((folder) => `  ${folder}\n`).join('')}` +
      `Install one: npm ls ${name} shows what requires each, and npm dedupe merges them.`,
  )
}
