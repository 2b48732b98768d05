import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { sequiturIn } from './command.js'
import { environment, root, serveIn } from './processes.js'

/*
 * Projects that `sequitur new` has created, with the packages of this repository, and its build as the package `sequitur`: nothing is installed.
 */

/** Creates a folder for projects that is removed when the test file is done. */
export function workspace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-new-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Creates a project whose npm scripts run. @param options those of the command, `--database` and `postgres`. */
export function newProject(name: string, ...options: readonly string[]): string {
  const folder = workspace()
  const { status, stderr } = sequiturIn(folder, {}, 'new', name, ...options)
  if (status !== 0) throw new Error(stderr)
  linkPackages(join(folder, name))
  return join(folder, name)
}

/** Gives a folder the packages of this repository, and its build. */
export function linkPackages(project: string): void {
  const [installed, linked] = [join(root, 'node_modules'), join(project, 'node_modules')]
  mkdirSync(join(linked, 'sequitur'), { recursive: true })
  for (const entry of readdirSync(installed)) symlinkSync(join(installed, entry), join(linked, entry))
  for (const entry of ['package.json', 'tsconfig.base.json', 'dist', 'assets'])
    symlinkSync(join(root, entry), join(linked, 'sequitur', entry))
}

/** The environment of programs in a project: without databases. */
export function variables(others: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return environment({ npm_config_update_notifier: 'false', ...others })
}

/** Starts a program of the project that listens, and waits until it prints its address. */
export function start(project: string, args: readonly string[], others: Readonly<Record<string, string>> = {}) {
  return serveIn(project, args, variables({ PORT: '0', ...others }))
}

/** Runs an npm script of the project until it ends. */
export function npm(project: string, script: string, others: Readonly<Record<string, string>> = {}) {
  return spawnSync('npm', ['run', script], { cwd: project, env: variables(others), encoding: 'utf8' })
}
