import type { Described, Shape } from '../../schema/shape/shape.js'
import type { Request } from '../request.js'
import type { OutgoingResponse } from './outgoing-response.js'

/** The request, which decides about the response of a declared stream. */
export type StreamRequest = Request

/** How a route sends a stream of items, in one of several media types. Implemented outside of `src/http`. */
export interface ItemStream {
  /** The declared type of an item. */
  readonly of: unknown
  /** Its media types, with how each has the items: as one JSON array, or as text in which the schema of an item is documented. */
  readonly media: Readonly<Record<string, 'array' | 'text'>>
  readonly description: string
  /** Error responses that it adds to the documentation of the route: `{ 406: '...' }`. */
  readonly refusals: Readonly<Record<number, string>>
  /**
   * Makes the response of a handler's result; called once for each route, when the app starts.
   *
   * @param name `HeroController.export`, for messages.
   * @throws BootError for items that it cannot send.
   */
  compile(item: Shape, name: string): (value: unknown, request: StreamRequest) => OutgoingResponse
}

/** The declaration of a response that is a stream of items. */
export interface DeclaredStream<T> extends Described<T> {
  readonly stream: ItemStream
}

/** The stream that a route declares; undefined for any other response. */
export function streamOf(declaration: unknown): ItemStream | undefined {
  return isDeclaredStream(declaration) ? declaration.stream : undefined
}

function isDeclaredStream(declaration: unknown): declaration is DeclaredStream<unknown> {
  return typeof declaration === 'object' && declaration !== null && 'stream' in declaration && 'shape' in declaration
}
