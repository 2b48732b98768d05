import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { ClientToken, ClientTokenPlace } from '../core/client-token.js'
import { HOW_TO_SET_SECRET } from '../core/cursor-secret.js'
import { variable } from '../core/environment.js'
import type { Lifespan } from './lifespan.js'
import type { OutgoingResponse } from './output/outgoing-response.js'
import type { Request } from './request.js'

/** The name of the cookie, or of the header; that of the second database ends with `-2`. */
const NAME = 'sequitur-position'

/** Seconds after which a token is ignored. Replicas that lag further behind should not serve requests. */
export const TOKEN_LIFETIME = 30

/** Where clients keep the tokens of one lifespan. */
interface Keeping {
  readonly lifespan: Lifespan
  readonly name: string
  readonly place: ClientTokenPlace
}

/** The tokens that the lifespans of an app leave with its clients. */
export class AppTokens {
  /** Whether a lifespan uses tokens; false until the start. */
  isUsed = false
  #keepings: readonly Keeping[] = []
  #seal: TokenSeal | undefined

  /**
   * Called when all lifespans are started.
   *
   * @param given the app's secret; without it that of the environment, else a random one.
   */
  start(lifespans: readonly Lifespan[], given: string | undefined, warn: (line: string) => void): void {
    this.#keepings = lifespans
      .flatMap((lifespan) => (lifespan.clientTokens ? { lifespan, place: lifespan.clientTokens } : []))
      .map((keeping, index) => ({ ...keeping, name: index === 0 ? NAME : `${NAME}-${index + 1}` }))
    if (this.#keepings.length === 0) return
    const secret = given ?? (variable('toolkit_cursor_secret') || undefined) // empty: not set
    if (secret === undefined)
      warn(
        'No secret for the tokens of readYourWrites is set: they are encrypted with a random key. ' +
          `Other processes cannot read them, and send the readers of these clients to the main database. ${HOW_TO_SET_SECRET}`,
      )
    this.isUsed = true
    this.#seal = new TokenSeal(secret ?? randomBytes(32).toString('base64'), TOKEN_LIFETIME)
  }

  /** Undefined if no lifespan uses tokens. */
  of(request: Request): RequestTokens | undefined {
    const seal = this.#seal
    if (seal === undefined) return undefined
    return new RequestTokens(this.#keepings.map((keeping) => [keeping.lifespan, new Token(keeping, request, seal)]))
  }
}

/** The tokens of one request, by their lifespans. */
export class RequestTokens extends Map<object, Token> {
  /** The response with the tokens that were sent. */
  addTo(response: OutgoingResponse): OutgoingResponse {
    const appended = [...this.values()].flatMap((token) => token.header ?? [])
    return appended.length > 0 ? { ...response, appended } : response
  }
}

class Token implements ClientToken {
  readonly #keeping: Keeping
  readonly #request: Request
  readonly #seal: TokenSeal
  /** The received text, once it is decrypted. */
  #opened: { readonly text: string | undefined } | undefined
  #sent: string | undefined

  constructor(keeping: Keeping, request: Request, seal: TokenSeal) {
    this.#keeping = keeping
    this.#request = request
    this.#seal = seal
  }

  get received(): string | undefined {
    return (this.#opened ??= { text: this.#open() }).text
  }

  #open(): string | undefined {
    const { name, place } = this.#keeping
    const { headers, cookies } = this.#request
    const token = place === 'cookie' ? cookies.get(name) : headers[name]
    return token === undefined ? undefined : this.#seal.open(String(token), name)
  }

  send(text: string): void {
    this.#sent = text
  }

  get header(): undefined | readonly [readonly [name: string, value: string]] {
    if (this.#sent === undefined) return undefined
    const { name, place } = this.#keeping
    const token = this.#seal.close(this.#sent, name)
    return [place === 'cookie' ? ['set-cookie', cookie(name, token, isEncrypted(this.#request))] : [name, token]]
  }
}

function cookie(name: string, value: string, isSecure: boolean): string {
  return `${name}=${value}; Path=/; Max-Age=${TOKEN_LIFETIME}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
}

// A client that sends the header itself only gets a cookie that it keeps from unencrypted connections.
function isEncrypted({ raw, headers }: Request): boolean {
  const { socket } = raw
  return ('encrypted' in socket && socket.encrypted === true) || /^https\b/i.test(String(headers['x-forwarded-proto']))
}

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

  /** Undefined for a token that has expired; empty for a text that is not a token of this key and name. Never throws. */
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
