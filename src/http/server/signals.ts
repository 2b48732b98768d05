const SIGNALS = ['SIGTERM', 'SIGINT'] as const

type Close = (signal: string) => Promise<void>

// The signals belong to the process: of several apps in it, none may end it before the others have finished.
const closing = new Set<Close>()

/**
 * Ends the process in order on SIGTERM and SIGINT: runs every `close`, then exits with 0, or with 1 when one fails.
 * A second signal ends it at once, by the signal's own effect. Returns a function that takes `close` back.
 */
export function onTermination(close: Close): () => void {
  if (closing.size === 0) for (const signal of SIGNALS) process.on(signal, terminate)
  closing.add(close)
  return () => {
    closing.delete(close)
    if (closing.size === 0) ignoreSignals()
  }
}

function terminate(signal: string): void {
  ignoreSignals()
  const all = [...closing].map((close) => close(signal))
  closing.clear()
  void Promise.allSettled(all).then((ended) => process.exit(ended.some(({ status }) => status === 'rejected') ? 1 : 0))
}

function ignoreSignals(): void {
  for (const signal of SIGNALS) process.removeListener(signal, terminate)
}
