import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { escapeForLog } from '../core/log-text.js'
import { type Command, CommandError, refuseMoreWords } from './command.js'
import { type Note, type Upgraded, upgradeText } from './upgrade/upgrade-text.js'
import { readText, writeText } from './user-files.js'

export const upgrade: Command = {
  usage: 'upgrade [folder] [--check] [--force]',
  details: `Imports what has moved from where it is exported now, in the source files of a folder, by default the current one. Prints each change, and what is left to
you. Files that git does not have in a commit are not changed.
  --check  changes nothing, and exits with 1 if something would be changed, or is left to you
  --force  changes files although their changes are not committed`,
  options: [],
  flags: ['check', 'force'],
  run,
}

async function run(words: readonly string[], _: unknown, flags: ReadonlySet<string>): Promise<number> {
  refuseMoreWords(words, 1, 'sequitur upgrade')
  const folder = words[0] ?? '.'
  const checks = flags.has('check')
  const files = sourceFiles(folder).map((path) => ({ path, upgraded: upgradeText(readText(path)) }))
  const changed = files.filter(({ upgraded }) => upgraded.done.length > 0)
  if (changed.length > 0 && !checks && !flags.has('force')) refuseUncommitted(folder)
  if (!checks) for (const { path, upgraded } of changed) writeText(path, upgraded.text)
  const open = files.filter(({ upgraded }) => upgraded.left.length > 0)
  process.stdout.write(reportOf(folder, checks ? 'To change' : 'Changed', changed, 'done'))
  process.stdout.write(reportOf(folder, 'Left to you', open, 'left'))
  if (changed.length + open.length === 0) process.stdout.write(`Nothing to change in ${fileCount(files.length)}.\n`)
  return checks && changed.length + open.length > 0 ? 1 : 0
}

const SOURCE = /\.[cm]?[jt]sx?$/
/** Those of others, and those that are built. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist', 'build', 'coverage'])

function sourceFiles(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new CommandError(`${folder} is not a folder. Name the folder of your program: sequitur upgrade src`)
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return SKIPPED.has(entry.name) || entry.name.startsWith('.') ? [] : sourceFiles(path)
    return entry.isFile() && SOURCE.test(entry.name) ? [path] : []
  })
}

/** Without git, or outside of a repository, there is nothing to ask. */
function refuseUncommitted(folder: string): void {
  const { status, stdout } = spawnSync('git', ['status', '--porcelain', '--', '.'], { cwd: folder, encoding: 'utf8' })
  if (status === 0 && stdout !== '')
    throw new CommandError(
      'Some files have changes that are not committed. Commit them first, so that you can review and undo what this command changes, or pass --force.',
    )
}

interface UpgradedFile {
  readonly path: string
  readonly upgraded: Upgraded
}

/** Empty without files. */
function reportOf(folder: string, title: string, files: readonly UpgradedFile[], part: 'done' | 'left'): string {
  if (files.length === 0) return ''
  const lineOf = (path: string, { line, text }: Note) => `  ${escapeForLog(relative(folder, path))}:${line}  ${text}\n`
  const lines = files.flatMap(({ path, upgraded }) => upgraded[part].map((note) => lineOf(path, note)))
  return `${title} in ${fileCount(files.length)}:\n${lines.join('')}`
}

function fileCount(count: number): string {
  return count === 1 ? '1 file' : `${count} files`
}
