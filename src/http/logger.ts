import { inspect } from 'node:util'

/** Where the app reports; `console` is one, and so is pino. */
export interface Logger {
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

export const SILENT: Logger = { info() {}, warn() {}, error() {} }

/** What was thrown, for the log: an error with its stack and its causes, anything else as it is. Never throws. */
export function describeError(error: unknown, outer: readonly unknown[] = []): string {
  try {
    return error instanceof Error ? describe(error, outer) : shown(error)
  } catch {
    // A getter, or a Proxy, that throws.
    return shown(error)
  }
}

function describe(error: Error, outer: readonly unknown[]): string {
  if (outer.includes(error)) return `${shown(read(error, 'name'))} (again)`
  const inside = [...outer, error]
  const stack = read(error, 'stack')
  const text = typeof stack === 'string' && stack ? withTitle(stack, error) : titleOf(error)
  const errors = error instanceof AggregateError ? read(error, 'errors') : []
  const parts = Array.isArray(errors) ? errors.map((part) => `\n- ${describeError(part, inside)}`) : []
  const cause = read(error, 'cause')
  return `${text}${parts.join('')}${cause === undefined ? '' : `\ncaused by ${describeError(cause, inside)}`}`
}

// A stack is made when the error is; some libraries say only later what it is about, or give it the stack of another.
function withTitle(stack: string, error: Error): string {
  const message = read(error, 'message')
  return typeof message !== 'string' || stack.includes(message) ? stack : `${titleOf(error)}\n${stack}`
}

function titleOf(error: Error): string {
  const [name, message] = [read(error, 'name'), read(error, 'message')]
  return `${shown(name ?? 'Error')}: ${shown(message ?? 'its message cannot be read')}`
}

function read(error: Error, key: string): unknown {
  try {
    return (error as unknown as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return inspect(value, { depth: 1, breakLength: Infinity })
  } catch {
    return 'something that cannot be shown'
  }
}
