import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { escapeForLog } from './log-text.js'
import { uninitializedClass } from './uninitialized-class.js'

/**
 * An expected failure at startup, whose message states all that is needed to fix it. If nothing catches it, the process prints the message,
 * with the line of the program that it comes from, and ends with exit code 1: stacks of this package and nested causes would hide it.
 */
export class StartupError extends Error {
  override name = 'StartupError'

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    captureWholeStack(this, new.target)
  }
}

process.on('uncaughtExceptionMonitor', endProcess)

// Perhaps none of Node's ten frames is one of the program.
function captureWholeStack(error: Error, type: Function): void {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 50
  Error.captureStackTrace(error, type)
  Error.stackTraceLimit = stackTraceLimit
}

// Node emits the event before it prints an uncaught exception and ends the process. A program with its own handler continues.
function endProcess(error: unknown): void {
  if (process.listenerCount('uncaughtException') > 0 || !isMainThread) return
  const message = startupMessage(error)
  if (message === undefined) return
  console.error(message)
  process.exit(1)
}

/** An expected failure at startup as it is printed: its message, and the line of the program that it comes from. Undefined for any other error. */
export function startupMessage(error: unknown): string | undefined {
  const message = error instanceof StartupError ? error.message : uninitializedClass(error)
  if (message === undefined) return undefined
  const line = programLine((error as Error).stack ?? '') // only errors have a message
  const lines = message.split('\n').map((text) => escapeForLog(text))
  return [...lines, ...(line === undefined ? [] : [`    at ${line}`])].join('\n')
}

/** `    at new Hero (file:///app/src/heros.ts:12:3)`, and under a top-level await `    at async file:///app/src/app.ts:5:1` */
const FRAME = /^ +at (?:async )?(?:.*\()?((?:file:|\/|[A-Za-z]:\\).*:\d+:\d+)\)?$/
/** Packages, and the functions that compilers add to the file of a decorated class. */
const LIBRARY_FRAME = /[/\\]node_modules[/\\]|\b__(?:decorate|param)/
const OWN_FILE = fileURLToPath(import.meta.url)
/**
 * The folder of this package, as its files are named in src/core and dist/core, and the one that source maps name instead of dist; in a program's bundle,
 * whose folder may have the sources of the program, that file.
 */
const OWN = /[/\\]core[/\\](?:startup-error\.[jt]s|sequitur-[0-9A-Z]{8}\.js)$/.test(OWN_FILE)
  ? ['../', '../../src/'].map((folder) => fileURLToPath(new URL(folder, import.meta.url)))
  : [`${OWN_FILE}:`]

/** The first line of a stack that belongs to the program: `/app/src/heros.ts:12:3`. */
function programLine(stack: string): string | undefined {
  for (const frame of stack.split('\n')) {
    const written = FRAME.exec(frame)?.[1]
    if (written === undefined || LIBRARY_FRAME.test(frame)) continue
    const place = written.startsWith('file:') ? written.replace(/^[^]*(?=:\d+:\d+$)/, fileURLToPath) : written
    if (!OWN.some((own) => place.startsWith(own))) return escapeForLog(place)
  }
  return undefined
}
