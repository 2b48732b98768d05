import { isAbsolute, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The limits of the statements of one request. */
export interface QueryLimits {
  /** The most statements. */
  readonly statements: number
  /** From how many times on it is too often that the same read is sent. */
  readonly repeats: number
}

export const UNLIMITED: QueryLimits = { statements: Infinity, repeats: Infinity }

/** How the statements of a request have exceeded their limits. */
export interface Excess {
  /** `statements`: too many of them. `repeats`: the same read was sent again and again. */
  readonly kind: 'statements' | 'repeats'
  readonly count: number
  readonly limit: number
  /** The shape of the read that was repeated. */
  readonly shape: string | undefined
  /** Where the program sends the statement that exceeds the limit: `src/heros.ts:12:20`. Undefined where the stack does not lead there. */
  readonly location: string | undefined
}

interface Read {
  count: number
  /** The location of the statement that reached the limit. */
  location: string | undefined
}

/** Counts the statements of one run of a handler by their shape. */
export class QueryCounter {
  limits: QueryLimits = UNLIMITED
  /** Whether there are {@link excesses}. */
  isExceeded = false
  #total = 0
  #location: string | undefined
  #reads: Map<string, Read> | undefined

  /** A statement is sent. Call it in the stack of the program that sends it. */
  add(shape: string, isRead: boolean): void {
    if (++this.#total === this.limits.statements + 1) this.#location = this.#exceed()
    if (!isRead) return
    this.#reads ??= new Map()
    const read = this.#reads.get(shape) ?? { count: 0, location: undefined }
    this.#reads.set(shape, read)
    if (++read.count === this.limits.repeats) read.location = this.#exceed()
  }

  #exceed(): string | undefined {
    this.isExceeded = true
    return programLocation()
  }

  /** How many times the read was sent that was sent most often. */
  get repeated(): number {
    let most = 0
    for (const { count } of this.#reads?.values() ?? []) most = Math.max(most, count)
    return most
  }

  /** The handler runs again. */
  clear(): void {
    this.isExceeded = false
    this.#total = 0
    this.#location = undefined
    this.#reads = undefined
  }

  get excesses(): readonly Excess[] {
    const { statements, repeats } = this.limits
    const excesses: Excess[] = []
    if (this.#total > statements)
      excesses.push({
        kind: 'statements',
        count: this.#total,
        limit: statements,
        shape: undefined,
        location: this.#location,
      })
    for (const [shape, { count, location }] of this.#reads ?? [])
      if (count >= repeats) excesses.push({ kind: 'repeats', count, limit: repeats, shape, location })
    return excesses
  }
}

/** Frames of Sequelize and of this package that may stand before that of the program. */
const MAX_FRAMES = 60

const OWN_FILE = fileURLToPath(import.meta.url)
/** The folder of this package's code: `src/`; or `dist/core/`, where this file is a part of another one, and the `src/` that source maps name instead. */
const OWN = [
  OWN_FILE.replace(/(?:core[\\/]events[\\/])?[^\\/]*$/, ''),
  OWN_FILE.replace(/dist([\\/])core[\\/]sequitur-[0-9A-Z]{8}\.js$/, 'src$1'),
]

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
