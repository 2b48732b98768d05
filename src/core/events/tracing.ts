import { type Trace, traceparentOf } from './trace.js'

/** What a tracer of this process knows, which this package cannot import. */
export interface Tracing {
  /** The span that the calling code runs in. */
  current(): Trace | undefined
  /** Runs the work without spans. */
  untraced<T>(work: () => T): T
}

let tracing: Tracing | undefined

/** Called when a tracer starts; without an argument when it stops. */
export function useTracing(used?: Tracing): void {
  tracing = used
}

/** The span that the calling code runs in, as a `traceparent`. Undefined without a tracer, and outside of spans. */
export function currentTraceparent(): string | undefined {
  const trace = tracing?.current()
  return trace && traceparentOf(trace)
}

/** Runs what belongs to no trace, such as what a process does each second. */
export function untraced<T>(work: () => T): T {
  return tracing ? tracing.untraced(work) : work()
}
