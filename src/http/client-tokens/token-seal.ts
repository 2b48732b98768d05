import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const NONCE_LENGTH = 12
const TAG_LENGTH = 16
/** The bytes of the time at which it was sealed, in seconds. */
const TIME_LENGTH = 4
/** Characters. Longer ones are not ours. */
const MAX_LENGTH = 256

/** Encrypts and signs short texts that clients keep, so that they can neither read nor forge them. They expire. */
export class TokenSeal {
  readonly #key: Buffer
  readonly #lifetime: number

  /** @param lifetime in seconds. */
  constructor(secret: string, lifetime: number) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'sequitur client token', 32))
    this.#lifetime = lifetime
  }

  /** @param name what it is kept as: it cannot be opened under another name. */
  close(text: string, name: string): string {
    const nonce = randomBytes(NONCE_LENGTH)
    const time = Buffer.alloc(TIME_LENGTH)
    time.writeUInt32BE(now())
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_LENGTH }).setAAD(Buffer.from(name))
    const body = [cipher.update(time), cipher.update(text, 'utf8'), cipher.final()]
    return Buffer.concat([nonce, cipher.getAuthTag(), ...body]).toString('base64url')
  }

  /** Undefined for a token that has expired; empty for a text that is no token of this key and name. Never throws. */
  open(token: string, name: string): string | undefined {
    const body = token.length <= MAX_LENGTH ? this.#decrypt(Buffer.from(token, 'base64url'), name) : undefined
    if (body === undefined || body.length < TIME_LENGTH) return ''
    return now() - body.readUInt32BE() > this.#lifetime ? undefined : body.toString('utf8', TIME_LENGTH)
  }

  #decrypt(bytes: Buffer, name: string): Buffer | undefined {
    if (bytes.length < NONCE_LENGTH + TAG_LENGTH) return undefined
    const [nonce, rest] = [bytes.subarray(0, NONCE_LENGTH), bytes.subarray(NONCE_LENGTH)]
    try {
      const decipher = createDecipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_LENGTH })
        .setAAD(Buffer.from(name))
        .setAuthTag(rest.subarray(0, TAG_LENGTH))
      return Buffer.concat([decipher.update(rest.subarray(TAG_LENGTH)), decipher.final()])
    } catch {
      return undefined // it was changed, or is of another key
    }
  }
}

function now(): number {
  return Math.floor(Date.now() / 1_000)
}
