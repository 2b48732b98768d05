const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/**
 * Ends the process in order on SIGTERM and SIGINT: runs `close`, then exits with 0, or with 1 when it fails.
 * A second signal ends it at once, by the signal's own effect. Returns a function that takes the listeners away.
 */
export function onTermination(close: (signal: string) => Promise<void>): () => void {
  const listener = (signal: string) => {
    forget()
    close(signal).then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  }
  const forget = () => SIGNALS.forEach((signal) => process.removeListener(signal, listener))
  SIGNALS.forEach((signal) => process.on(signal, listener))
  return forget
}
