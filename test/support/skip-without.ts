import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/**
 * Returns why the tests of a file are skipped, and prints it: the programs and files that are not installed. False if there is nothing missing.
 *
 * @param needed absolute paths, and names of programs in PATH.
 */
export function skipWithout(title: string, needed: readonly string[]): string | false {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']
  const missing = needed.filter((name) =>
    isAbsolute(name) ? !existsSync(name) : !folders.some((folder) => existsSync(join(folder, name))),
  )
  if (missing.length === 0) return false
  const reason = `${title} is skipped: ${missing.join(', ')} not found`
  console.log(reason)
  return reason
}
