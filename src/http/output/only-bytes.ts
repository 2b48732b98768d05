import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { types } from 'node:util'
import { shown } from '../../core/options.js'

/**
 * Destroys the stream, with an error that says why, instead of writing a chunk that is neither bytes nor a string. Node throws for one where nothing can
 * catch it, which ends the process. Only a stream of objects has such chunks. Replaces a method of this one response.
 */
export function writeOnlyBytes(source: Readable, response: ServerResponse): void {
  if (!source.readableObjectMode) return
  const { write } = response
  response.write = function (this: ServerResponse, ...args: unknown[]) {
    const [chunk] = args
    if (typeof chunk === 'string' || types.isUint8Array(chunk)) return Reflect.apply(write, this, args)
    source.destroy(notBytes(chunk))
    return false
  }
}

function notBytes(chunk: unknown): TypeError {
  return new TypeError(
    `The stream of the response has ${shown(chunk)} as a chunk, so the connection was closed. A stream is sent as bytes: let it give strings or a Uint8Array, such as \`\${JSON.stringify(row)}\\n\`.`,
  )
}
