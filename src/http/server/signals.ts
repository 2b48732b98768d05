const SIGNALS = ['SIGTERM', 'SIGINT'] as const

type Close = (signal: string) => Promise<void>

// None of several apps in a process may end it before the others are closed.
const closing = new Set<Close>()

/**
 * On SIGTERM and SIGINT, calls every `close`, then ends the process with exit code 0, or 1 when one fails. A second signal ends it at once.
 * Returns a function that removes `close`.
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
