import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

/*
 * Small projects in temporary folders, run with the load hook in every order of tsx and the hook.
 */

export const hook = new URL('../../src/register/index.js', import.meta.url).href
export const tsxCommand = join(packageFolder('tsx'), 'dist/cli.mjs')
export const tscCommand = join(packageFolder('typescript'), 'bin/tsc')

/** A way to start a program: the arguments of node before its file, and perhaps NODE_OPTIONS. */
export interface Mode {
  readonly name: string
  readonly args: readonly string[]
  readonly options?: string
}

export const alone: Mode = { name: 'alone', args: ['--import', hook] }
export const afterTsx: Mode = { name: 'after tsx', args: ['--import', 'tsx', '--import', hook] }
export const beforeTsx: Mode = { name: 'before tsx', args: ['--import', hook, '--import', 'tsx'] }
export const inTsx: Mode = { name: 'in the tsx command', args: [tsxCommand, '--import', hook] }
export const byOptions: Mode = { name: 'in NODE_OPTIONS', args: [], options: `--import ${hook}` }
export const byOptionsInTsx: Mode = {
  name: 'in NODE_OPTIONS of the tsx command',
  args: [tsxCommand],
  options: `--import ${hook}`,
}

export const modes = [alone, afterTsx, beforeTsx, inTsx, byOptions, byOptionsInTsx]
export const orders = [alone, afterTsx, beforeTsx]

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Creates a project in a temporary folder, with only tsx and reflect-metadata installed. It is removed after the test. */
export async function project(t: TestContext, files: Record<string, string>): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'sequitur-register-')))
  t.after(() => rm(root, { recursive: true, force: true }))
  for (const [name, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text)
  }
  await mkdir(join(root, 'node_modules'), { recursive: true })
  for (const name of ['tsx', 'reflect-metadata']) await symlink(packageFolder(name), join(root, 'node_modules', name))
  return root
}

/** Runs a program until it ends. @throws when it runs for more than two minutes. */
export function run(root: string, mode: Mode, ...program: string[]): Promise<Outcome> {
  const options = { cwd: root, env: environment(mode), timeout: 120_000 }
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...mode.args, ...program], options, (error, stdout, stderr) => {
      if (error?.killed) reject(new Error(`Still running after two minutes: ${error.cmd}\n${stdout}${stderr}`))
      else resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr })
    })
  })
}

/** What a program prints, without the last newline. */
export async function printed(root: string, mode: Mode, ...program: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(root, mode, ...program)
  if (code !== 0) throw new Error(`Exit code ${code}\n${stdout}${stderr}`)
  return stdout.trimEnd()
}

export function environment(mode: Mode): NodeJS.ProcessEnv {
  // NODE_TEST_CONTEXT would turn a nested `node --test` into a reporter of this one.
  return { ...process.env, NODE_OPTIONS: mode.options, NODE_TEST_CONTEXT: undefined, FORCE_COLOR: undefined }
}

function packageFolder(name: string): string {
  const folder = join('node_modules', name)
  const entry = fileURLToPath(import.meta.resolve(name))
  return entry.slice(0, entry.lastIndexOf(folder) + folder.length)
}
