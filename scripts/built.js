// Builds the package where what is in dist is older than its source: tests start programs that use it, which takes a third of the time.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const OTHERS = ['src', 'package.json', 'scripts/build.js', 'tsconfig.base.json', 'tsconfig.json', 'tsconfig.build.json']

/** Ends this process if the source cannot be compiled. */
export function ensureBuilt() {
  if (!isStale()) return
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/build.js')], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

function isStale() {
  const result = join(root, 'dist/index.js')
  if (!existsSync(result)) return true
  const built = changedAt(result)
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((name) => join('src', name))
  return [...OTHERS, ...sources].some((path) => changedAt(join(root, path)) > built)
}

function changedAt(/** @type {string} */ path) {
  return statSync(path).mtimeMs
}
