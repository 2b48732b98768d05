import { randomInt } from 'node:crypto'

/** A number with so many digits may be larger than the largest number of JavaScript. */
const HUGE = 309

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d]
const [ZERO, NINE, EXPONENT] = [0x30, 0x39, 0x65]

/** Counts the parts of JSON in one pass over its bytes, before it is parsed. For bytes that are not JSON, the counts have no meaning. */
export class JsonScan {
  /** Lists and objects. */
  lists = 0
  properties = 0
  /** Items of lists, and properties. */
  values = 0
  isDeep = false
  /** Whether there is a number of hundreds of digits, or with an exponent. */
  hasHugeNumber = false
  readonly #bytes: Buffer

  constructor(bytes: Buffer, mostLevels: number) {
    this.#bytes = bytes
    let depth = 0
    let digits = 0
    for (let index = 0; index < bytes.length && !this.isDeep; index++) {
      const byte = bytes[index] as number // the index is below the length
      if (byte >= ZERO && byte <= NINE) {
        if (++digits === HUGE) this.hasHugeNumber = true
        continue
      }
      if ((byte | 0x20) === EXPONENT && digits > 0) this.hasHugeNumber = true
      digits = 0
      if (byte === QUOTE) index = this.#endOfString(index + 1)
      else if (byte === LIST || byte === OBJECT) this.isDeep = this.#enter(++depth, mostLevels)
      else if (byte === LIST_END || byte === OBJECT_END) depth--
      else if (byte === COMMA) this.values++
      else if (byte === COLON) this.properties++
    }
  }

  /** The number of different property names. */
  countNames(): number {
    const bytes = this.#bytes
    const names = new Set<number>()
    for (let index = 0; index < bytes.length; index++) {
      if (bytes[index] !== QUOTE) continue
      const end = this.#endOfString(index + 1)
      if (this.#isName(end)) names.add(hash(bytes, index, end))
      index = end
    }
    return names.size
  }

  #enter(depth: number, mostLevels: number): boolean {
    this.lists++
    this.values++
    return depth > mostLevels
  }

  #endOfString(from: number): number {
    const bytes = this.#bytes
    let index = from
    while (index < bytes.length && bytes[index] !== QUOTE) index += bytes[index] === BACKSLASH ? 2 : 1
    return index
  }

  #isName(end: number): boolean {
    let index = end + 1
    while ((this.#bytes[index] ?? COLON) <= 0x20) index++
    return this.#bytes[index] === COLON
  }
}

// Random, so that a client cannot choose names with the same hash.
const SEED = randomInt(2 ** 31)

function hash(bytes: Buffer, from: number, to: number): number {
  let value = SEED
  // Indexed, as it runs for each byte; the index is below the length.
  for (let index = from; index < to; index++) value = Math.imul(value ^ (bytes[index] as number), 0x01000193)
  return value
}
