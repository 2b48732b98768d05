import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { MigrationFile } from './migration-files.js'

/*
 * What a migration of QueryInterface does is known only when it runs: its file is compared as text. A source and what was compiled from it differ, and are not
 * compared.
 */

const TEXT_DIGEST = /^[jt]s:/

/** `ts:…`: that of the text, without what programs that format code change. */
export function fileDigest({ path }: Pick<MigrationFile, 'path'>): string {
  const language = /\.[cm]?js$/.test(path) ? 'js' : 'ts'
  const digest = createHash('sha256')
    .update(withoutFormat(readFileSync(path, 'utf8')))
    .digest('base64')
  return `${language}:${digest}`
}

/** Whether it is that of a text, and not that of steps. */
export function isFileDigest(digest: string): boolean {
  return TEXT_DIGEST.test(digest)
}

/** Whether the text of a file is another one than that of the digest, as far as they can be compared. */
export function isEdited(file: MigrationFile, noted: string): boolean {
  const now = fileDigest(file)
  return now.slice(0, 2) === noted.slice(0, 2) && now !== noted
}

// Spaces, semicolons, trailing commas, and which quotes a text has.
function withoutFormat(text: string): string {
  return text
    .replaceAll(/[\s;]+/g, '')
    .replaceAll(/,(?=[)\]}])/g, '')
    .replaceAll('"', "'")
}
