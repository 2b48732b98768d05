/** Where the app reports; `console` is one, and so is pino. */
export interface Logger {
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

export const SILENT: Logger = { info() {}, warn() {}, error() {} }

/** An error with its stack and its causes, for the log. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const text = error.stack ?? `${error.name}: ${error.message}`
  const inner = error instanceof AggregateError ? error.errors.map((part) => `\n- ${describeError(part)}`).join('') : ''
  return `${text}${inner}${error.cause === undefined ? '' : `\ncaused by ${describeError(error.cause)}`}`
}
