import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sequitur } from './command.js'
import { root, temporaryFolder } from './processes.js'

/** A project with the client of an app, programs of test/client/programs, and what they import. */
export function clientProject(app: string, programs: readonly string[], ...options: readonly string[]): string {
  const folder = temporaryFolder()
  const { status, stdout, stderr } = sequitur('client', app, '--out', join(folder, 'api.ts'), ...options)
  assert.deepEqual([status, stderr], [0, ''], stdout + stderr)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  for (const name of programs) copyFileSync(join(root, 'test/client/programs', name), join(folder, name))
  mkdirSync(join(folder, 'node_modules'))
  for (const name of ['@types', 'undici-types'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  return folder
}

/** The errors of the compiler, by the lines of a file. */
export function compileErrors(folder: string, file: string): readonly number[] {
  const options = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    target: 'es2023',
    module: 'nodenext',
    lib: ['es2023', 'dom', 'dom.asynciterable'],
    types: ['node'],
    jsx: 'react-jsx',
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: [file] }))
  const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], {
    cwd: folder,
    encoding: 'utf8',
  })
  return [
    ...new Set(
      [...stdout.matchAll(/^(\S+)\((\d+),\d+\): error/gm)].map(([line, name, number]) => {
        assert.equal(name, file, line)
        return Number(number)
      }),
    ),
  ]
}
