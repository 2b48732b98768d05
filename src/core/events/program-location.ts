import { isAbsolute, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Frames of Sequelize and of this package that may stand before that of the program. */
const MAX_FRAMES = 60

/** The folder of this package's code: `src/`, or `dist/`, where this file is a part of another one. */
const own = fileURLToPath(new URL('.', import.meta.url)).replace(/core[\\/]events[\\/]$/, '')

const FRAME = /^\s+at (?:.*\()?(?:file:\/\/)?(.+?):(\d+):(\d+)\)?$/

/** Where the program has made the current call, or awaits it: `src/heros.ts:12:20`. Undefined where the stack does not lead to a file of the program. */
export function programLocation(): string | undefined {
  for (const line of currentStack().split('\n')) {
    const [, file = '', row = '', column = ''] = FRAME.exec(line) ?? []
    if (isOfProgram(file)) return `${shortened(file.replace(/^async /, ''))}:${row}:${column}`
  }
  return undefined
}

function currentStack(): string {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = MAX_FRAMES
  try {
    return new Error('location').stack ?? ''
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

function isOfProgram(file: string): boolean {
  if (file === '' || file.startsWith('node:') || file === '<anonymous>') return false
  return !/[\\/]node_modules[\\/]/.test(file) && !decoded(file).startsWith(own)
}

function decoded(file: string): string {
  try {
    return decodeURI(file)
  } catch {
    return file
  }
}

function shortened(file: string): string {
  const path = relative(process.cwd(), decoded(file))
  return path.startsWith('..') || isAbsolute(path) ? file : path
}
