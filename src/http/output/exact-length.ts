/** What a stream of bytes, or of texts in UTF-8, gives. */
export type Chunk = Uint8Array | string

/**
 * Passes on what the stream gives, as long as that is what `content-length` announces.
 *
 * @throws when there are more bytes, before one too many is passed on, or fewer. The connection must not be used for another answer then.
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
  return new Error(`The content-length is ${length} bytes, and the stream has ${given}: the connection was closed.`)
}

/** The bytes that a `content-length` header announces; undefined without one. @throws TypeError for another value than a whole number. */
export function lengthOf(header: unknown): number | undefined {
  if (header === undefined) return undefined
  const text = String(header)
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new TypeError(`The header content-length is ${JSON.stringify(text)}. Write the number of bytes.`)
}
