import type { Abort } from '../../core/abort.js'
import type { JsonSchema, ObjectShape } from '../../schema/shape/shape.js'
import type { Request } from '../request.js'
import type { JsonBody } from './body.js'

/** A media type of bodies other than JSON, as a decorator outside of this folder declares it. */
export interface BodyMedia {
  /** The decorator, for messages: `@Multipart()`. */
  readonly decorator: string
  /**
   * The reader of the bodies of a class.
   *
   * @param where the input, for messages.
   * @throws BootError for a class that a body of this media type cannot have.
   */
  prepare(shape: ObjectShape, where: string): PreparedMedia
}

/** Reads the bodies of one input. */
export interface PreparedMedia {
  readonly mediaType: string
  /** How OpenAPI documents the parts of a body: its Encoding Objects by their properties. */
  readonly encoding: Readonly<Record<string, JsonSchema>>
  /**
   * Reads a body to its end, before the handler runs and its transaction begins. Resources that it holds until the request is over, it releases by
   * `request.onEnd()`.
   *
   * @param bodyLimit that of the app, in bytes.
   * @param stop when it is aborted, nothing more is read.
   * @throws HttpError for a body that cannot be read; the reason of `stop`, or of the request's signal, when that is aborted before.
   */
  read(request: Request, bodyLimit: number, stop?: Abort): Promise<JsonBody>
}
