/** Where the app reports; `console` is one, and so is pino. */
export interface Logger {
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

export const SILENT: Logger = { info() {}, warn() {}, error() {} }

/** An error with its stack and its causes, for the log. */
export function describeError(error: unknown, outer: readonly unknown[] = []): string {
  if (!(error instanceof Error)) return String(error)
  if (outer.includes(error)) return `${error.name} (again)`
  const inside = [...outer, error]
  const text = error.stack ?? `${error.name}: ${error.message}`
  const parts = error instanceof AggregateError ? error.errors.map((part) => `\n- ${describeError(part, inside)}`) : []
  const cause = error.cause === undefined ? '' : `\ncaused by ${describeError(error.cause, inside)}`
  return `${text}${parts.join('')}${cause}`
}
