import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { jwtVerify, SignJWT } from 'jose'
import { Factory, Field, Header, Injectable, Security, Session } from 'sequitur'
import { refuse } from './errors.js'
import { User } from './models.js'

export class ConduitSettings {
  /** Without one, tokens are valid until the process ends. */
  @Field({ minLength: 32 }) tokenSecret: string = randomBytes(32).toString('hex')
  /** `smtp://user:password@mail.example.com`. Without one, mail is printed. */
  @Field({ optional: true }) smtpUrl?: string
}

const derive = promisify<string, Buffer, number, Buffer>(scrypt)

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  return `${salt.toString('hex')}:${(await derive(password, salt, 32)).toString('hex')}`
}

/** Takes as long without a user: the time must not tell which addresses exist. */
export async function isPassword(password: string, user: User | null): Promise<boolean> {
  const [salt = '', hash = ''] = (user?.password_hash ?? `${'00'.repeat(16)}:${'00'.repeat(32)}`).split(':')
  return timingSafeEqual(await derive(password, Buffer.from(salt, 'hex'), 32), Buffer.from(hash, 'hex'))
}

@Injectable({ lifetime: 'application' })
export class Tokens {
  readonly #key: Uint8Array
  constructor({ tokenSecret }: ConduitSettings) {
    this.#key = new TextEncoder().encode(tokenSecret)
  }

  sign({ id }: User): Promise<string> {
    const token = new SignJWT().setProtectedHeader({ alg: 'HS256' }).setSubject(String(id)).setExpirationTime('7d')
    return token.sign(this.#key)
  }

  async read(token: string): Promise<number> {
    const claims = { algorithms: ['HS256'], requiredClaims: ['sub', 'exp'] }
    const verified = await jwtVerify(token, this.#key, claims).catch(() => refuse(401, 'token', 'is invalid'))
    return Number(verified.payload.sub)
  }
}

const scheme = { type: 'apiKey', in: 'header', name: 'Authorization', description: '`Token <jwt>`' } as const

/** The client of a request: the user of its token, or null without one. */
@Injectable()
@Security(scheme, { name: 'Token', optional: true })
export class Viewer {
  constructor(readonly user: User | null) {}

  @Factory()
  static async of(tokens: Tokens, session: Session, @Header({ optional: true }) authorization?: string) {
    if (authorization === undefined) return new Viewer(null)
    const id = await tokens.read(authorization.replace(/^(Token|Bearer) /, ''))
    return new Viewer((await session.get(User, id)) ?? refuse(401, 'token', 'is invalid'))
  }
}

/** The user of a token, without which the response is a 401. */
@Injectable()
@Security(scheme, { name: 'Token' })
export class CurrentUser {
  readonly user: User
  constructor(viewer: Viewer) {
    this.user = viewer.user ?? refuse(401, 'token', 'is missing')
  }
}
