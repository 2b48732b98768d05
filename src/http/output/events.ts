import { BootError } from '../../core/boot-error.js'
import { checkOptions, integer, type OptionChecks, unchecked } from '../../core/option-checks.js'
import { LONGEST, shown } from '../../core/options.js'
import type { Constructor } from '../../di/token.js'
import { unionOfClasses } from '../../schema/declare/one-of.js'
import type { DataOf, Described } from '../../schema/shape/shape.js'
import { Reply, type ReplyHeaderValues } from './reply.js'
import { Readable } from 'node:stream'
import { toError } from '../../core/to-error.js'
import type { Stringify } from '../../schema/output/encode.js'

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
 * The response of a route that sends server-sent events, each with data of the declared type. With several classes, the data of each event are an instance of one
 * of them.
 *
 * @example
 * @Get('/ticks', Events.of(Tick)) ticks(signal: AbortSignal) { return events(ticks(signal)) }
 * @Get('/heroes/events', Events.of(HeroSaved, HeroDeleted)) follow(feed: Feed) { return feed.follow([HeroSaved, HeroDeleted]) }
 */
export const Events: EventsDeclaration = {
  of(first: unknown, ...others: readonly Constructor[]) {
    return { shape: refuseAsShape, eventsOf: others.length === 0 ? first : unionOfClasses([first, ...others]) }
  },
}

interface EventsDeclaration {
  of<const S>(declaration: S): DeclaredEvents<DataOf<S>>
  of<const C extends readonly [Constructor, Constructor, ...Constructor[]]>(
    ...classes: C
  ): DeclaredEvents<DataOf<C[number]>>
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
 * @throws BootError for an unknown option or an invalid heartbeat; TypeError for a source that is not an async iterable.
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
  return eventsReply(source, options)
}

/** @internal The same for a source that also sends text of its own. */
export function eventsReply<T>(
  source: AsyncIterable<ServerEvent<T> | StreamText>,
  { heartbeat = 15_000, headers }: EventsOptions,
): Reply<Events<T>> {
  return new Reply<Events<T>>(undefined, { headers: { ...HEADERS, ...headers } }, new EventStream(source, heartbeat))
}

// Programs without a type check may pass a list, or forget to call a generator.
function requireSource(source: unknown): void {
  if (typeof source === 'object' && source !== null && Symbol.asyncIterator in source) return
  throw new TypeError(
    `events(): the source is ${shown(source)}. Pass an async iterable: call an async generator, async function* source() { yield { data } }.`,
  )
}

/** An event of a stream of server-sent events. */
export interface ServerEvent<T> {
  /** Sent as JSON, with the properties that the route declares. */
  readonly data: T
  /** A client that connects again sends the last id as the header `last-event-id`. One line. */
  readonly id?: string
  /** The name of the event. Default of the client: `message`. One line. */
  readonly event?: string
  /** Milliseconds that the client waits before it connects again. */
  readonly retry?: number
}

/** Text of a stream that is no event of the declared type: an id alone, or an event of this package. */
export class StreamText {
  readonly text: string

  /** @param lines without line breaks: `id: 7`. */
  constructor(lines: readonly string[]) {
    this.text = `${lines.join('\n')}\n\n`
  }
}

const HEARTBEAT = ':\n\n'

/**
 * The text of server-sent events. An event is taken from the source only when the client has room for it, first after COMMIT, and is released
 * (`return()`) as soon as the client leaves or the app closes.
 */
export class EventStream extends Readable {
  readonly #source: AsyncIterable<ServerEvent<unknown> | StreamText>
  readonly #heartbeat: number
  #iterator: AsyncIterator<ServerEvent<unknown> | StreamText> | undefined
  #stringify: Stringify | undefined
  #timer: NodeJS.Timeout | undefined
  /** Whether the client has room, and nothing was sent since. */
  #isWanted = false
  #isWaiting = false
  #isOver = false

  /** @param heartbeat milliseconds without an event after which a comment is sent. */
  constructor(source: AsyncIterable<ServerEvent<unknown> | StreamText>, heartbeat: number) {
    super()
    this.#source = source
    this.#heartbeat = heartbeat
  }

  /** Called by the route, which knows what the data of its events are. */
  writeDataWith(stringify: Stringify): void {
    this.#stringify = stringify
  }

  /** Ends the response although the source has not ended. */
  finish(): void {
    if (this.#isOver) return
    this.#release()
    this.push(null)
  }

  override _read(): void {
    this.#isWanted = true
    this.#timer ??= setInterval(() => this.#beat(), this.#heartbeat)
    if (!this.#isWaiting && !this.#isOver) void this.#next()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#release()
    callback(error)
  }

  async #next(): Promise<void> {
    this.#isWaiting = true
    try {
      const { done, value } = await (this.#iterator ??= this.#source[Symbol.asyncIterator]()).next()
      this.#isWaiting = false
      if (this.#isOver) return
      if (done) this.#end()
      else this.#send(textOf(value, this.#stringify as Stringify)) // set before the response is sent
    } catch (error) {
      if (!this.#isOver) this.destroy(toError(error))
    }
  }

  #send(text: string): void {
    this.#isWanted = false
    this.#timer?.refresh()
    this.push(text)
  }

  // A client without room gets none: they would pile up.
  #beat(): void {
    if (this.#isWanted) this.#send(HEARTBEAT)
  }

  #end(): void {
    this.#isOver = true
    clearInterval(this.#timer)
    this.push(null)
  }

  // Not waited for: a source that waits for its next event may never end. An error that it throws now, such as the reason of an aborted signal, is no
  // longer about an event.
  #release(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearInterval(this.#timer)
    const release = async () => (this.#iterator ?? this.#source[Symbol.asyncIterator]()).return?.()
    release().catch(() => {})
  }
}

function textOf(sent: ServerEvent<unknown> | StreamText, stringify: Stringify): string {
  if (sent instanceof StreamText) return sent.text
  const { data, id, event, retry } = sent
  const lines = [
    ...(event === undefined ? [] : [`event: ${oneLine('event', event)}`]),
    ...(id === undefined ? [] : [`id: ${oneLine('id', id)}`]),
    ...(retry === undefined ? [] : [`retry: ${milliseconds(retry)}`]),
    `data: ${stringify(data)}`, // JSON has no line breaks
  ]
  return `${lines.join('\n')}\n\n`
}

// A line break would begin another field.
function oneLine(name: string, value: unknown): string {
  if (typeof value === 'string' && !/[\r\n\0]/.test(value)) return value
  throw new TypeError(`events(): ${name} of an event is ${JSON.stringify(value)}. Write a string without line breaks.`)
}

function milliseconds(retry: unknown): number {
  if (typeof retry === 'number' && Number.isSafeInteger(retry) && retry >= 0) return retry
  throw new TypeError(`events(): retry of an event is ${JSON.stringify(retry)}. Write milliseconds, a whole number.`)
}
