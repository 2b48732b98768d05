import { isAbsolute, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Frames of Sequelize and of this package that may stand before that of the program. */
const MAX_FRAMES = 60

const OWN_FILE = fileURLToPath(import.meta.url)
/** The folder of this package's code: `src/`; or `dist/core/`, where this file is a part of another one, and the `src/` that source maps name instead. */
const OWN = [
  OWN_FILE.replace(/(?:core[\\/]events[\\/])?[^\\/]*$/, ''),
  OWN_FILE.replace(/dist([\\/])core[\\/]sequitur-[0-9A-Z]{8}\.js$/, 'src$1'),
]

const FRAME = /^\s+at (?:.*\()?(?:file:\/\/)?(.+?):(\d+):(\d+)\)?$/

/** Where the program makes the current call, or awaits it: `src/heros.ts:12:20`. Undefined if no frame of the stack is in a file of the program. */
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
  return !/[\\/]node_modules[\\/]/.test(file) && !OWN.some((one) => decoded(file).startsWith(one))
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
