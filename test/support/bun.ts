import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root } from './processes.js'

/** The program of Bun: that of the environment variable BUN, in PATH, or of the peers of the benchmark. Undefined, after a line that says so, if there is none. */
export function findBun(): string | undefined {
  const { BUN, PATH = '' } = process.env
  const folders = [...PATH.split(delimiter), join(root, 'bench/peers/node_modules/.bin')]
  const found = BUN ?? folders.map((folder) => join(folder, 'bun')).find((program) => existsSync(program))
  if (found === undefined) console.log('The tests on Bun are skipped: set BUN to the path of its program.')
  return found
}
