import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = join(root, 'bench/peers')

/** The names of all peers: each is a file of `bench/peers`. */
export function peerNames(): readonly string[] {
  return readdirSync(folder).flatMap((name) => (name.endsWith('.ts') ? [name.slice(0, -3)] : []))
}

/** Installs the packages of the peers if needed, and compiles Sequitur and the peers. */
export function prepare(): void {
  if (!isInstalled()) execute('npm', ['ci', '--no-audit', '--no-fund'], folder)
  linkSequitur()
  execute(process.execPath, ['scripts/build.js'], root)
  generatePrismaClient()
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
  execute(process.execPath, [join(typescript, 'bin/tsc'), '-p', folder], root)
  mkdirSync(join(root, 'bench/results'), { recursive: true })
}

/** Whether `npm ci` has run since the last change of the lock file. */
function isInstalled(): boolean {
  const installed = join(folder, 'node_modules/.package-lock.json')
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(folder, 'package-lock.json')).mtimeMs
}

/** The command wants to download a program for migrations, which it does not use here: any program stands for it. */
function generatePrismaClient(): void {
  process.env['PRISMA_SCHEMA_ENGINE_BINARY'] = process.execPath
  const command = join(folder, 'node_modules/prisma/build/index.js')
  execute(process.execPath, [command, 'generate', '--schema', 'support/prisma.schema.prisma'], folder)
}

/** Not a dependency of the peers' package.json, because npm would install the dependencies of this package once more. */
function linkSequitur(): void {
  const link = join(folder, 'node_modules/sequitur')
  rmSync(link, { force: true })
  symlinkSync('../../..', link, 'junction')
}

function execute(command: string, parameters: readonly string[], cwd: string): void {
  console.log(`$ ${[command === process.execPath ? 'node' : command, ...parameters].join(' ')}`)
  const { status, error } = spawnSync(command, parameters, { cwd, stdio: 'inherit' })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ended with the code ${status}.`)
}
