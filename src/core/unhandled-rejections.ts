/** Takes care of the error of a promise that was not awaited, or returns false. */
export type RejectionHandler = (error: unknown) => boolean

const handlers = new Set<RejectionHandler>()

/**
 * Hands unhandled rejections to the handler until the returned function is called. One that no handler takes does what it does without this:
 * it ends the process.
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
  // Node ends the process only when nobody listens; where this is the only listener, that is still the right end.
  if (process.listenerCount('unhandledRejection') === 1) throw error
}
