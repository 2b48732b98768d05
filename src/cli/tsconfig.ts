import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { packageManager } from '../core/package-manager.js'
import { isJson, type Json, objectAt } from './breaking/json.js'

const EXTENDS = 'Write "extends": "sequitur/tsconfig.json".'

/** The mistakes in tsconfig.json of the current folder, as sentences that state what to write. */
export function checkTsconfig(): string[] {
  if (!existsSync('tsconfig.json')) return [`there is none in this folder. Create it. ${EXTENDS}`]
  const compiler = findCompiler()
  if (compiler === undefined) return [`typescript is not installed. Run ${packageManager().add('-D typescript')}.`]
  const options = effectiveOptions(compiler)
  return options ? wrongOptions(options) : ['tsc cannot read it. Run npx tsc --noEmit, which shows why.']
}

function findCompiler(): string | undefined {
  try {
    const manifest = createRequire(resolve('package.json')).resolve('typescript/package.json')
    return join(dirname(manifest), 'bin', 'tsc')
  } catch {
    return undefined
  }
}

/** The compiler options with those of the files that tsconfig.json extends; undefined if the compiler cannot read it. */
function effectiveOptions(compiler: string): Json | undefined {
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.json', '--showConfig'], {
    encoding: 'utf8',
  })
  try {
    const config: unknown = JSON.parse(stdout)
    return isJson(config) ? (objectAt(config, 'compilerOptions') ?? {}) : undefined
  } catch {
    return undefined
  }
}

/** Targets before class fields existed, for which the compiler assigns them. */
const WITHOUT_FIELDS = /^es(?:[356]|20(?:1\d|2[01]))$/i

function wrongOptions(options: Json): string[] {
  const definesFields = options['useDefineForClassFields'] ?? !WITHOUT_FIELDS.test(String(options['target']))
  const wrong: readonly (readonly [found: boolean, text: string])[] = [
    [
      options['experimentalDecorators'] !== true,
      'experimentalDecorators is not true: tsc compiles decorators of another kind',
    ],
    [
      options['emitDecoratorMetadata'] !== true,
      'emitDecoratorMetadata is not true: parameters have no types at run time',
    ],
    [definesFields !== false, 'useDefineForClassFields is not false: fields hide the columns of models'],
    [options['strict'] === false, 'strict is false: the compiler does not compare results with declared responses'],
  ]
  return wrong.flatMap(([found, text]) => (found ? `${text}. ${EXTENDS}` : []))
}
