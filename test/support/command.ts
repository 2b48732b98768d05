import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { environment, root } from './processes.js'

/*
 * The command `sequitur`, run from the source of this repository.
 */

const source = new URL('../../src/', import.meta.url)
const flags = ['--conditions=sequitur-source', '--import', import.meta.resolve('tsx')]
const hook = ['--import', new URL('register/index.js', source).href]

/** Runs the command in the folder of the repository until it ends. */
export function sequitur(...words: readonly string[]) {
  return sequiturIn(root, {}, ...words)
}

/** Runs the command in another folder, with variables of the environment. Databases of the environment are unknown to it. */
export function sequiturIn(cwd: string, variables: Readonly<Record<string, string>>, ...words: readonly string[]) {
  const main = fileURLToPath(new URL('cli/main.ts', source))
  const args = [...flags, ...hook, main, ...words]
  return spawnSync(process.execPath, args, { cwd, env: environment(variables), encoding: 'utf8' })
}
