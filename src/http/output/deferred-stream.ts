import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'

/**
 * The body of a response whose status is known only when it is opened, such as the rows of a statement. It is opened after COMMIT, and before the
 * head of the response: what fails until then is a response of its own. When the client leaves, even before that, it is destroyed.
 */
export abstract class DeferredStream extends Readable {
  /** Resolves when the head may be sent. Called once. @throws the error whose status the response has instead. */
  abstract open(): Promise<void>
}

/** Opens a stream; destroys it if that fails. Resolves to false if the client left in the meantime. */
export async function openDeferred(stream: DeferredStream, response: ServerResponse): Promise<boolean> {
  const leave = () => void stream.destroy()
  response.once('close', leave)
  try {
    await stream.open()
    return true
  } catch (error) {
    stream.destroy()
    if (response.destroyed) return false
    throw error
  } finally {
    response.off('close', leave)
  }
}
