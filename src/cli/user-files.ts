import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../core/to-error.js'
import { CommandError } from './command.js'

/** The text of a file of the program. @throws CommandError if it cannot be read. */
export function readText(path: string): string {
  return accessing(`Cannot read ${path}`, () => readFileSync(path, 'utf8'))
}

/** Writes a file of the program, and the folders that it needs. @throws CommandError if it cannot be written. */
export function writeText(path: string, text: string): void {
  accessing(`Cannot write ${path}`, () => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  })
}

/** As {@link writeText}. @throws CommandError for a file that is there already. */
export function writeNew(path: string, text: string): void {
  accessing(`Cannot write ${path}`, () => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { flag: 'wx' })
  })
}

function accessing<T>(failure: string, access: () => T): T {
  try {
    return access()
  } catch (error) {
    throw new CommandError(`${failure}: ${messageOf(error)}`)
  }
}
