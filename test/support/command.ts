import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { environment, root } from './processes.js'

/*
 * The command `sequitur` of the built package, which starts in a third of the time that the source needs: scripts/test.js has built it.
 */

export const MAIN = join(root, 'dist/cli/main.js')

/** Runs the command in the folder of the repository until it ends. */
export function sequitur(...words: readonly string[]) {
  return sequiturIn(root, {}, ...words)
}

/** Runs the command in another folder, with variables of the environment. Databases of the environment are unknown to it. */
export function sequiturIn(cwd: string, variables: Readonly<Record<string, string>>, ...words: readonly string[]) {
  return spawnSync(process.execPath, [MAIN, ...words], { cwd, env: environment(variables), encoding: 'utf8' })
}
