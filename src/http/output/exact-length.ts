/** A chunk of a stream: bytes, or a string in UTF-8. */
export type Chunk = Uint8Array | string

/**
 * Passes the chunks on and compares their length with `content-length`.
 *
 * @throws when there are more bytes, before it passes on the first excess one, or fewer. The connection must not be used again then.
 */
export function exactLength(length: number): (chunks: AsyncIterable<Chunk>) => AsyncGenerator<Chunk> {
  return async function* (chunks) {
    let count = 0
    for await (const chunk of chunks) {
      count += Buffer.byteLength(chunk)
      if (count > length) throw mismatch('more', length)
      yield chunk
    }
    if (count < length) throw mismatch(`only ${count}`, length)
  }
}

function mismatch(given: string, length: number): Error {
  return new Error(`The content-length is ${length} bytes, but the stream has ${given}: the connection was closed.`)
}

/** The value of a `content-length` header; undefined without one. @throws TypeError for a value that is not a whole number. */
export function lengthOf(header: unknown): number | undefined {
  if (header === undefined) return undefined
  const text = String(header)
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new TypeError(`The header content-length is ${JSON.stringify(text)}. Write the number of bytes.`)
}
