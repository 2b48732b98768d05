/** Returns true when it has handled the error of an unhandled rejection. */
export type RejectionHandler = (error: unknown) => boolean

const handlers = new Set<RejectionHandler>()

/**
 * Passes unhandled rejections to the handler until the returned function is called. One that no handler handles ends the process, as it does
 * by default.
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
  // Node ends the process only when the event has no listener. Where this is the only one, throwing has the same effect.
  if (process.listenerCount('unhandledRejection') === 1) throw error
}
