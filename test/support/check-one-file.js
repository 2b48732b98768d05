// Prints what a compiler finds in one file of a project: node check-one-file.js <folder of typescript> <folder of the project> <file>
// Unlike the command, the library of TypeScript 5 checks of the other files only what the file needs.
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [compiler = '', project = '', name = ''] = process.argv.slice(2)
const typescript = createRequire(import.meta.url)(compiler)
const system = { ...typescript.sys, onUnRecoverableConfigFileDiagnostic: console.error }
const { fileNames, options } = typescript.getParsedCommandLineOfConfigFile(join(project, 'tsconfig.json'), {}, system)
const program = typescript.createProgram(fileNames, options)
const found = program.getSemanticDiagnostics(program.getSourceFile(join(project, name)))
const paths = {
  getCurrentDirectory: () => project,
  getCanonicalFileName: (/** @type {string} */ path) => path,
  getNewLine: () => '\n',
}
process.stdout.write(typescript.formatDiagnostics(found, paths))
