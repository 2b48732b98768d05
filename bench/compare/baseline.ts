import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './prepare.js'

/** A version of this repository whose peer is compiled. */
export interface Version {
  readonly commit: string
  /** Its program bench/peers/support/serve.ts, compiled. */
  readonly program: URL
}

/** Checks out a version and compiles it, with its peer. @param ref a tag, a branch or a commit. @throws Error if there is no such version, or it does not compile. */
export function checkOut(ref: string): Version {
  const commit = git('rev-parse', '--verify', `${ref}^{commit}`)
  const folder = join(mkdtempSync(join(tmpdir(), 'sequitur-baseline-')), 'sequitur')
  git('worktree', 'add', '--detach', folder, commit)
  process.once('exit', () => {
    git('worktree', 'remove', '--force', folder)
    rmSync(dirname(folder), { recursive: true })
  })
  installIn(folder)
  return compiled(folder, commit)
}

/** The version of the working tree. */
export function workingTree(): Version {
  return compiled(root, git('rev-parse', 'HEAD'))
}

/** Packages that are the same need not be installed again: both versions have the same drivers then. */
function installIn(folder: string): void {
  const lock = (of: string) => readFileSync(join(of, 'package-lock.json'), 'utf8')
  if (lock(folder) === lock(root)) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  else execute('npm', ['ci', '--no-audit', '--no-fund'], folder)
}

function compiled(folder: string, commit: string): Version {
  const peers = join(folder, 'bench/peers')
  const link = join(peers, 'node_modules/sequitur')
  mkdirSync(dirname(link), { recursive: true })
  rmSync(link, { force: true })
  symlinkSync('../../..', link, 'junction')
  execute(process.execPath, ['scripts/build.js'], folder)
  // The other peers need packages that are not compared here.
  const config = join(peers, 'tsconfig.one.json')
  const dist = join(peers, 'dist')
  rmSync(dist, { recursive: true, force: true })
  writeFileSync(
    config,
    JSON.stringify({ extends: './tsconfig.json', include: ['sequitur.ts', 'raw.ts', 'support/serve.ts'] }),
  )
  try {
    const typescript = dirname(createRequire(join(root, 'package.json')).resolve('typescript/package.json'))
    execute(process.execPath, [join(typescript, 'bin/tsc'), '-p', config], folder)
  } finally {
    rmSync(config)
  }
  return { commit, program: pathToFileURL(join(dist, 'support/serve.js')) }
}

function git(...parameters: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', parameters, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${parameters.join(' ')}: ${stderr.trim()}`)
  return stdout.trim()
}

function execute(command: string, parameters: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(command, parameters, { cwd, stdio: 'inherit' })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${parameters.join(' ')} ended with the code ${status}.`)
}
