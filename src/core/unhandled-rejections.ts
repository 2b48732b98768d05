import { describeError } from './log-text.js'

/** Returns true when it has handled the error of an unhandled rejection. */
export type RejectionHandler = (error: unknown) => boolean

const handlers = new Set<RejectionHandler>()

/**
 * Passes unhandled rejections to the handler until the returned function is called. One that no handler handles has the
 * effect that `--unhandled-rejections` of the process says; by default it ends the process.
 */
export function handleRejections(handler: RejectionHandler): () => void {
  if (handlers.size === 0) process.on('unhandledRejection', onUnhandledRejection)
  handlers.add(handler)
  return () => {
    if (handlers.delete(handler) && handlers.size === 0)
      process.removeListener('unhandledRejection', onUnhandledRejection)
  }
}

function onUnhandledRejection(error: unknown): void {
  for (const handler of handlers) if (handler(error)) return
  // Node follows its mode only when the event has no listener. If this listener is the only one, it has the same effect.
  if (process.listenerCount('unhandledRejection') > 1) return
  const mode = rejectionMode()
  if (mode === 'throw') throw error
  if (mode !== 'warn-with-error-code') return // Node itself warns in the mode `warn`, and has already thrown in the mode `strict`
  process.emitWarning(`Unhandled promise rejection: ${describeError(error)}`, 'UnhandledPromiseRejectionWarning')
  process.exitCode = 1
}

/** The value of `--unhandled-rejections`: of the command line, or else of NODE_OPTIONS. */
function rejectionMode(): string {
  const given = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ')
  return [...given.matchAll(/--unhandled[-_]rejections[ =]"?([a-z-]+)/g)].at(-1)?.[1] ?? 'throw'
}
