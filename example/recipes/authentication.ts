import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { jwtVerify, SignJWT } from 'jose'
import {
  type AppOptions,
  Base,
  conflict,
  Controller,
  createApp,
  Delete,
  Factory,
  Field,
  forbidden,
  Get,
  guard,
  Header,
  Injectable,
  Item,
  type Lifespan,
  notFound,
  Post,
  Security,
  select,
  Session,
  unauthorized,
} from 'sequitur'
import { settings } from 'sequitur/settings'
import { type CreationOptional, UniqueConstraintError } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'account', timestamps: false })
export class Account extends Base<Account> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(50), allowNull: false, unique: true }) declare name: string
  @Column({ type: DataType.STRING, allowNull: false }) declare password_hash: string
  @Column({ type: DataType.STRING(20), allowNull: false, defaultValue: 'reader' })
  declare role: CreationOptional<string>
}

const derive = promisify<string, Buffer, number, Buffer>(scrypt)

async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  return `${salt.toString('hex')}:${(await derive(password, salt, 32)).toString('hex')}`
}

async function isPassword(password: string, stored: string): Promise<boolean> {
  const [salt = '', hash = ''] = stored.split(':')
  const derived = await derive(password, Buffer.from(salt, 'hex'), 32)
  return timingSafeEqual(derived, Buffer.from(hash, 'hex'))
}

class AuthSettings {
  @Field({ minLength: 32 }) tokenSecret!: string
}

@Injectable({ lifetime: 'application' })
class Tokens {
  readonly #key: Uint8Array
  constructor({ tokenSecret }: AuthSettings) {
    this.#key = new TextEncoder().encode(tokenSecret)
  }

  sign({ id }: Account): Promise<string> {
    return new SignJWT()
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(String(id))
      .setExpirationTime('1h')
      .sign(this.#key)
  }

  /** The id of the account in the header `Authorization`. */
  async read(authorization: string): Promise<number> {
    const claims = { algorithms: ['HS256'], requiredClaims: ['sub', 'exp'] }
    const token = authorization.replace(/^Bearer /i, '')
    const verified = await jwtVerify(token, this.#key, claims).catch(() => refuse())
    return Number(verified.payload.sub)
  }
}

function refuse(): never {
  return unauthorized('Send the header Authorization: Bearer <token>', { headers: { 'www-authenticate': 'Bearer' } })
}

const bearer = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } as const

/** The account of a valid token. */
@Injectable()
@Security(bearer, { name: 'Bearer' })
class CurrentUser {
  constructor(readonly account: Account) {}

  @Factory()
  static async of(tokens: Tokens, session: Session, @Header({ optional: true }) authorization: string = '') {
    const id = await tokens.read(authorization)
    return new CurrentUser((await session.get(Account, id)) ?? refuse())
  }
}

/** The client of a request: the account of its token, or null without one. */
@Injectable()
@Security(bearer, { name: 'Bearer', optional: true })
class Viewer {
  constructor(readonly account: Account | null) {}

  @Factory()
  static async of(tokens: Tokens, session: Session, @Header({ optional: true }) authorization?: string) {
    if (authorization === undefined) return new Viewer(null)
    return new Viewer((await session.get(Account, await tokens.read(authorization))) ?? refuse())
  }
}

const editors = guard([CurrentUser], ({ account }) => account.role === 'editor', { scopes: ['editor'] })

class Credentials {
  @Field({ minLength: 1, maxLength: 50 }) name!: string
  @Field({ minLength: 8, maxLength: 200 }) password!: string
}
class Profile {
  @Field({ type: 'integer' }) id!: number
  @Field() name!: string
  @Field() role!: string
}

@Controller('/accounts')
class AccountController {
  @Post('/', Item.of(Profile))
  async register({ name, password }: Credentials, session: Session) {
    const account = session.add(Account.build({ name, password_hash: await hashPassword(password) }))
    try {
      await session.flush()
    } catch (error) {
      if (error instanceof UniqueConstraintError) conflict('The name is taken')
      throw error
    }
    return { data: account }
  }

  @Post('/login', { token: String }, { status: 200, errors: { 401: 'The name or the password is wrong' } })
  async login({ name, password }: Credentials, session: Session, tokens: Tokens) {
    const account = await session.first(select(Account, { where: { name } }))
    // Without an account, too: the time that it takes must not tell which names exist.
    const isKnown = await isPassword(password, account?.password_hash ?? NOBODY)
    if (!account || !isKnown) return unauthorized('The name or the password is wrong')
    return { token: await tokens.sign(account) }
  }

  @Get('/me', Item.of(Profile))
  me({ account }: CurrentUser) {
    return { data: account }
  }

  @Get('/greeting', { text: String })
  greet({ account }: Viewer) {
    return { text: `Hello, ${account?.name ?? 'stranger'}!` }
  }

  @Delete('/:account_id', { requires: [editors], errors: { 404: 'Account not found' } })
  async remove(account_id: number, user: CurrentUser, session: Session) {
    if (account_id === user.account.id) forbidden('Ask another editor to remove you')
    await session.delete((await session.get(Account, account_id)) ?? notFound('Account not found'))
  }
}

const NOBODY = `${'00'.repeat(16)}:${'00'.repeat(32)}`

// Reads TOKEN_SECRET.
export function appOptions(lifespan: Lifespan, env = process.env): AppOptions {
  const providers = [settings(AuthSettings, { env })]
  return { controllers: [AccountController], models: [Account], lifespan, providers }
}

export const newApp = (lifespan: Lifespan) => createApp(appOptions(lifespan))
