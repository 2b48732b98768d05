import { HttpError } from '../../errors.js'

/**
 * Why a response is broken off: its client takes it too slowly. It is logged as a line, without a stack, and the connection is reset: the system would go
 * on sending what it has buffered.
 */
export class SlowClient extends HttpError {
  override name = 'SlowClient'

  constructor(message: string) {
    super(408, message)
  }
}
