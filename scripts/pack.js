// npm run pack: builds the tarball that is published. npm runs `prepare` in a clone, and whoever installs the package needs no scripts: they are left out of it.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

/** What only a clone of the repository needs. `sequitur new` reads the versions of devDependencies. */
const OF_THE_CLONE = ['scripts', 'workspaces', 'allowScripts']

/**
 * Builds the package, and packs it.
 *
 * @param {string} destination a folder
 * @returns {{ tarball: string, files: string[] }} the path of the tarball, and the paths in it
 */
export function pack(destination) {
  execute(process.execPath, [join('scripts', 'build.js')], root)
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-pack-'))
  try {
    const { filename } = packed(root, folder)
    execute('tar', ['-xzf', filename], folder)
    const own = join(folder, 'package', 'package.json')
    const manifest = JSON.parse(readFileSync(own, 'utf8'))
    for (const field of OF_THE_CLONE) delete manifest[field]
    writeFileSync(own, `${JSON.stringify(manifest, undefined, 2)}\n`)
    mkdirSync(destination, { recursive: true })
    const { filename: tarball, files } = packed(join(folder, 'package'), destination)
    return { tarball: join(destination, tarball), files: files.map(({ path }) => path) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * @param {string} folder
 * @param {string} destination
 * @returns {{ filename: string, files: { path: string }[] }}
 */
function packed(folder, destination) {
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination]
  const [report] = JSON.parse(execute('npm', words, folder))
  return report
}

/**
 * @param {string} command
 * @param {string[]} parameters
 * @param {string} cwd
 */
function execute(command, parameters, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, parameters, { cwd, encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${parameters.join(' ')} ended with the code ${status}.\n${stderr}`)
  return stdout
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(pack(join(root, 'release')).tarball)
