import { randomFillSync } from 'node:crypto'

const REQUEST_ID = /^[\w.:-]{1,128}$/

/** The id of a request: that of its header, if it is harmless in a log, else a new UUID. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : newUuid()
}

/** How many UUIDs are made at once. */
const COUNT = 128
const LENGTH = 36
const DIGITS = Buffer.from('0123456789abcdef')
const DASH = '-'.charCodeAt(0)

const random = Buffer.alloc(16 * COUNT)
const characters = Buffer.alloc(LENGTH * COUNT, DASH)
let uuids = ''
let next = COUNT

/**
 * A random UUID. The strings of crypto.randomUUID() consist of forty parts, which V8 joins when it checks them as a header.
 * Source: RFC 9562, 5.4.
 */
export function newUuid(): string {
  if (next === COUNT) {
    writeUuids()
    next = 0
  }
  const start = LENGTH * next++
  return uuids.slice(start, start + LENGTH)
}

function writeUuids(): void {
  randomFillSync(random)
  let at = 0
  for (let index = 0; index < random.length; index++) {
    const place = index % 16
    if (place === 4 || place === 6 || place === 8 || place === 10) at++ // a dash
    const byte = withVersion(random[index] ?? 0, place)
    characters[at++] = DIGITS[byte >> 4] ?? 0
    characters[at++] = DIGITS[byte & 15] ?? 0
  }
  uuids = characters.toString('latin1')
}

/** Version 4, variant 10. */
function withVersion(byte: number, place: number): number {
  if (place === 6) return (byte & 0x0f) | 0x40
  return place === 8 ? (byte & 0x3f) | 0x80 : byte
}
