import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SqliteMode } from '../url-options.js'

/**
 * Makes the folder that a new database file is to be in. Where the folder above is missing, too, the path is rather
 * misspelt, or meant from another directory: an empty database would be made that nobody looks for.
 *
 * @throws Error that says what is missing.
 */
export function prepareFile(storage: string, mode: SqliteMode): void {
  if (existsSync(storage)) {
    if (statSync(storage).isDirectory())
      throw new Error(`${storage} is a folder. Name a file in it, such as ${storage}/app.sqlite.`)
    return
  }
  if (mode !== 'rwc')
    throw new Error(
      `there is no file ${storage}, and mode=${mode} makes none. Correct the path, or leave the mode away.`,
    )
  const folder = dirname(storage)
  if (existsSync(folder)) return
  if (!existsSync(dirname(folder)))
    throw new Error(
      `neither ${folder} nor the folder above it exists. Correct the path, or make them: mkdir -p ${folder}`,
    )
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(folder)) throw error
  }
}
