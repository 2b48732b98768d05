import type { ServerResponse } from 'node:http'
import type { RequestRecord } from '../../core/events/request-record.js'

/**
 * Adds the bytes of the body to the record. Replaces methods of this one response: what middleware puts around them, such as a compression, is
 * outside, so that its result is counted.
 */
export function countBytes(response: ServerResponse, record: RequestRecord): void {
  if (record.method === 'HEAD') return
  const { write, end } = response
  const add = (chunk: unknown, encoding: unknown) => void (record.bytes += sizeOf(chunk, encoding))
  response.write = function (this: ServerResponse, ...args: unknown[]) {
    add(args[0], args[1])
    return Reflect.apply(write, this, args)
  }
  response.end = function (this: ServerResponse, ...args: unknown[]) {
    if (!this.writableEnded) add(args[0], args[1])
    return Reflect.apply(end, this, args)
  }
}

function sizeOf(chunk: unknown, encoding: unknown): number {
  if (typeof chunk === 'string')
    return Buffer.byteLength(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8') // unknown ones count as utf8
  return chunk instanceof Uint8Array ? chunk.byteLength : 0
}
