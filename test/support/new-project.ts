import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { sequiturIn } from './command.js'
import { environment, root, serveIn } from './processes.js'

/*
 * Projects that `sequitur new` has created, with the packages of this repository and its source as the package `sequitur`: nothing is installed.
 */

/** Creates a folder for projects that is removed when the test file is done. */
export function workspace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-new-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Creates a project whose npm scripts run. */
export function newProject(name: string): string {
  const folder = workspace()
  const { status, stderr } = sequiturIn(folder, {}, 'new', name)
  if (status !== 0) throw new Error(stderr)
  linkPackages(join(folder, name))
  return join(folder, name)
}

function linkPackages(project: string): void {
  const [installed, linked] = [join(root, 'node_modules'), join(project, 'node_modules')]
  mkdirSync(join(linked, 'sequitur'), { recursive: true })
  for (const entry of readdirSync(installed)) symlinkSync(join(installed, entry), join(linked, entry))
  linkSource(join(linked, 'sequitur'))
}

// package.json names the source under a condition, and the source needs options that programs do not.
function linkSource(folder: string): void {
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(root, 'src'), join(folder, 'src'))
  const { lib, customConditions, exactOptionalPropertyTypes, noUncheckedIndexedAccess } = optionsIn('tsconfig.json')
  const own = { lib, customConditions, exactOptionalPropertyTypes, noUncheckedIndexedAccess }
  const base = { compilerOptions: { ...optionsIn('tsconfig.base.json'), ...own } }
  writeFileSync(join(folder, 'tsconfig.base.json'), JSON.stringify(base))
}

function optionsIn(file: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(root, file), 'utf8')).compilerOptions
}

/** The environment of programs in a project: from the source, without databases. */
export function variables(others: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return environment({ NODE_OPTIONS: '--conditions=sequitur-source', npm_config_update_notifier: 'false', ...others })
}

/** Starts a program of the project that listens, and waits until it prints its address. */
export function start(project: string, args: readonly string[], others: Readonly<Record<string, string>> = {}) {
  return serveIn(project, args, variables({ PORT: '0', ...others }))
}

/** Runs an npm script of the project until it ends. */
export function npm(project: string, script: string, others: Readonly<Record<string, string>> = {}) {
  return spawnSync('npm', ['run', script], { cwd: project, env: variables(others), encoding: 'utf8' })
}
