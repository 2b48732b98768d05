import { chmodSync, closeSync, existsSync, fchmodSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SqliteMode } from '../../config/url-options.js'

/** Only for the user that the app runs as. */
const PRIVATE = 0o600

/**
 * Makes a new database file, which is empty, and the folder that it is to be in. Where the folder above is missing, too, the path is rather
 * misspelt, or meant from another directory: an empty database would be made that nobody looks for.
 *
 * @param fileMode the permissions of the new file; SQLite gives those beside it, -wal and -shm, the same.
 * @throws Error that says what is missing.
 */
export function prepareFile(storage: string, mode: SqliteMode, fileMode = PRIVATE): void {
  if (existsSync(storage)) {
    if (statSync(storage).isDirectory())
      throw new Error(`${storage} is a folder. Name a file in it, such as ${storage}/app.sqlite.`)
    return
  }
  if (mode !== 'rwc')
    throw new Error(
      `there is no file ${storage}, and mode=${mode} makes none. Correct the path, or leave the mode away.`,
    )
  makeFolder(dirname(storage), fileMode)
  makeFile(storage, fileMode)
}

function makeFolder(folder: string, fileMode: number): void {
  if (existsSync(folder)) return
  if (!existsSync(dirname(folder)))
    throw new Error(
      `neither ${folder} nor the folder above it exists. Correct the path, or make them: mkdir -p ${folder}`,
    )
  const mode = fileMode | ((fileMode & 0o444) >> 2) // who may read may enter
  try {
    mkdirSync(folder, { mode })
    chmodSync(folder, mode)
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(folder)) throw error
  }
}

function makeFile(storage: string, mode: number): void {
  try {
    const file = openSync(storage, 'wx', mode)
    fchmodSync(file, mode) // also what the process's umask takes away
    closeSync(file)
  } catch (error) {
    if (!existsSync(storage)) throw error
  }
}
