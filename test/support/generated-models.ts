import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './processes.js'

/** A folder for generated models, in which they are imported, compiled and formatted like the files of a project. */
export function modelsProject(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sequitur-models-')))
  if (!process.env['KEEP']) process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
  symlinkSync(root, join(folder, 'node_modules/sequitur'))
  for (const name of ['sequelize', 'sequelize-typescript', '@types/node', '@types/validator'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  cpSync(join(root, '.oxfmtrc.json'), join(folder, '.oxfmtrc.json'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const compilerOptions = {
    noEmit: true,
    customConditions: ['sequitur-source'],
    types: ['node'],
    lib: ['ES2023', 'ES2024.String', 'ESNext.Disposable'],
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noUnusedLocals: true,
  }
  const tsconfig = { extends: join(root, 'tsconfig.base.json'), compilerOptions, include: ['**/*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  return folder
}
