import { BootError } from '../../core/boot-error.js'
import { checkOptions, integer, type OptionChecks, unchecked } from '../../core/option-checks.js'
import { LONGEST, shown } from '../../core/options.js'
import type { DataOf, Described } from '../../schema/shape/shape.js'
import { EventStream, type ServerEvent } from './event-stream.js'
import { Reply, type ReplyHeaderValues } from './reply.js'

/** The options of `events(source, options)`. */
export interface EventsOptions {
  /** Milliseconds without an event after which a comment is sent, so that proxies keep the connection open. Default 15000. */
  readonly heartbeat?: number
  readonly headers?: ReplyHeaderValues
}

const OPTIONS: OptionChecks<EventsOptions> = { heartbeat: integer('milliseconds', 1, LONGEST), headers: unchecked }

/** Exists only at compile time. */
declare const dataOfEvents: unique symbol

/** A stream of server-sent events with these data: the result of {@link events}. */
export interface Events<T> {
  readonly [dataOfEvents]: T
}

/** The declaration that `Events.of()` makes. */
export interface DeclaredEvents<T> extends Described<Events<T>> {
  /** The declared type of the data of an event. */
  readonly eventsOf: unknown
}

/**
 * The response of a route that sends server-sent events, each with data of the declared type.
 *
 * @example
 * @Get('/ticks', Events.of(Tick)) ticks(signal: AbortSignal) { return events(ticks(signal)) }
 */
export const Events = {
  of<const S>(declaration: S): DeclaredEvents<DataOf<S>> {
    return { shape: refuseAsShape, eventsOf: declaration }
  },
}

function refuseAsShape(): never {
  throw new BootError(
    `Events.of() is only the response of a route: @Get('/', Events.of(Tick)). Nothing can contain it, and 'responses' cannot list it.`,
  )
}

/** Whether a route declares that it sends events. */
export function isEvents(declaration: unknown): declaration is DeclaredEvents<unknown> {
  return typeof declaration === 'object' && declaration !== null && 'eventsOf' in declaration
}

// Proxies and middleware must neither keep nor compress it: they would wait for its end.
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/**
 * Sends server-sent events until the source ends. When the client leaves or the app closes before, `return()` of the source is called, and
 * the signal of the request is aborted. The source is read after COMMIT, when the session has ended: read rows in it with `withSession`.
 * `timeouts.handler` ends when the handler returns.
 *
 * @throws BootError for an unknown option or a heartbeat that is no time; TypeError for a source that is no async iterable.
 * @example
 * @Get('/ticks', Events.of(Tick))
 * ticks(signal: AbortSignal, @Header('last-event-id', { type: 'integer', default: 0 }) last: number) {
 *   async function* source() {
 *     for (let number = last + 1; ; number++) {
 *       await setTimeout(1000, undefined, { signal })
 *       yield { id: String(number), data: { number } }
 *     }
 *   }
 *   return events(source())
 * }
 */
export function events<T>(source: AsyncIterable<ServerEvent<T>>, options: EventsOptions = {}): Reply<Events<T>> {
  checkOptions('events()', options, OPTIONS)
  requireSource(source)
  const { heartbeat = 15_000, headers } = options
  return new Reply<Events<T>>(undefined, { headers: { ...HEADERS, ...headers } }, new EventStream(source, heartbeat))
}

// Programs without a type check may pass a list, or forget to call a generator.
function requireSource(source: unknown): void {
  if (typeof source === 'object' && source !== null && Symbol.asyncIterator in source) return
  throw new TypeError(
    `events(): the source is ${shown(source)}. Pass an async iterable: call an async generator, async function* source() { yield { data } }.`,
  )
}
