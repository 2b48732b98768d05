import { chmodSync, closeSync, existsSync, fchmodSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SqliteMode } from '../../config/url-options.js'

/** Read and write for the owner alone. */
const OWNER_ONLY = 0o600

/**
 * Creates the database file, empty, and its folder. If the parent of that folder is missing too, the path is probably misspelt or relative
 * to another directory, so nothing is created.
 *
 * @param fileMode the permissions of the new file; SQLite uses the same for the files next to it, -wal and -shm.
 * @throws Error that names what is missing.
 */
export function prepareFile(storage: string, mode: SqliteMode, fileMode = OWNER_ONLY): void {
  if (existsSync(storage)) {
    if (statSync(storage).isDirectory())
      throw new Error(`${storage} is a folder. Write the path of a file in it, such as ${storage}/app.sqlite.`)
    return
  }
  if (mode !== 'rwc')
    throw new Error(
      `there is no file ${storage}, and mode=${mode} creates none. Correct the path, or leave out the mode.`,
    )
  createFolder(dirname(storage), fileMode)
  createFile(storage, fileMode)
}

function createFolder(folder: string, fileMode: number): void {
  if (existsSync(folder)) return
  if (!existsSync(dirname(folder)))
    throw new Error(
      `neither ${folder} nor its parent folder exists. Correct the path, or create them: mkdir -p ${folder}`,
    )
  const mode = fileMode | ((fileMode & 0o444) >> 2) // read permission for the file needs execute permission for the folder
  try {
    mkdirSync(folder, { mode })
    chmodSync(folder, mode)
  } catch (error) {
    // Another process may have created it at the same time.
    if (!existsSync(folder)) throw error
  }
}

function createFile(storage: string, mode: number): void {
  try {
    const file = openSync(storage, 'wx', mode)
    fchmodSync(file, mode) // openSync() has applied the umask of the process
    closeSync(file)
  } catch (error) {
    if (!existsSync(storage)) throw error
  }
}
