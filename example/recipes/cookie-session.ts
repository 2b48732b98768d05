import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import {
  Base,
  Controller,
  Cookie,
  Delete,
  Factory,
  Field,
  forbidden,
  Get,
  Injectable,
  Post,
  reply,
  Security,
  select,
  Session,
  unauthorized,
} from 'sequitur'
import type { CreationOptional } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript'

@Table({ tableName: 'person', timestamps: false })
export class Person extends Base<Person> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(100), allowNull: false, unique: true }) declare name: string
  @Column({ type: DataType.STRING(97), allowNull: false }) declare password_hash: string
}

/** A browser in which a person is logged in. Its key is in the cookie, and here is only a hash of it. */
@Table({ tableName: 'login', timestamps: false })
export class Login extends Base<Login> {
  @Column({ type: DataType.STRING(64), primaryKey: true }) declare key_hash: string
  @ForeignKey(() => Person) @Column({ type: DataType.INTEGER, allowNull: false }) declare person_id: number
  @BelongsTo(() => Person) declare person?: Person
  @Column({ type: DataType.DATE, allowNull: false }) declare expires: Date
}

const DAY = 86_400_000
const DAYS = 14
const derive = promisify<string, Buffer, number, Buffer>(scrypt)
const hashOf = (key: string) => createHash('sha256').update(key).digest('hex')

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  return `${salt.toString('hex')}:${(await derive(password, salt, 32)).toString('hex')}`
}

/** Without a person, too: the time that it takes must not tell which names exist. */
async function isPassword(password: string, stored = `${'00'.repeat(16)}:${'00'.repeat(32)}`): Promise<boolean> {
  const [salt = '', hash = ''] = stored.split(':')
  return timingSafeEqual(await derive(password, Buffer.from(salt, 'hex'), 32), Buffer.from(hash, 'hex'))
}

/** HttpOnly: no script reads it. SameSite=Lax: other sites send it with links, and not with forms. */
function cookie(key: string, seconds: number): string {
  return `sid=${key}; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=${seconds}`
}

/** The person who is logged in. */
@Injectable()
@Security({ type: 'apiKey', in: 'cookie', name: 'sid' })
export class CurrentPerson {
  constructor(
    readonly login: Login,
    readonly person: Person,
  ) {}

  @Factory()
  static async of(session: Session, @Cookie({ optional: true }) sid: string = '') {
    const where = { key_hash: hashOf(sid) }
    const login = await session.first(select(Login, { where, include: [Person] }))
    if (!login?.person || login.expires < new Date()) unauthorized('Log in first')
    return new CurrentPerson(login, login.person)
  }
}

class Credentials {
  @Field({ maxLength: 100 }) name!: string
  @Field({ maxLength: 200 }) password!: string
}

@Controller('/session')
export class CookieSessionController {
  @Post('/', { status: 204, errors: { 401: 'Wrong name or password' } })
  async login({ name, password }: Credentials, session: Session) {
    const person = await session.first(select(Person, { where: { name } }))
    if (!(await isPassword(password, person?.password_hash)) || !person) unauthorized('Wrong name or password')
    const key = randomBytes(32).toString('hex') // a new one for each login: no one can have planted it
    session.add(
      Login.build({ key_hash: hashOf(key), person_id: person.id, expires: new Date(Date.now() + DAYS * DAY) }),
    )
    return reply(undefined, { headers: { 'set-cookie': cookie(key, (DAYS * DAY) / 1000) } })
  }

  @Get('/', { name: String })
  current({ person }: CurrentPerson) {
    return { name: person.name }
  }

  @Delete('/', { status: 204 })
  logout({ login }: CurrentPerson, session: Session) {
    session.delete(login)
    return reply(undefined, { headers: { 'set-cookie': cookie('', 0) } })
  }
}

/**
 * Middleware against CSRF, for all routes: a request that may change something comes from a page of this host, or from no page. Browsers set both headers
 * themselves; a script of another site cannot change them.
 */
export function sameSite({ method = '', headers }: IncomingMessage, _: ServerResponse, next: () => void): void {
  const { 'sec-fetch-site': site, origin, host } = headers
  const isOwn = site === undefined ? !origin || hostOf(origin) === host : /^(?:same-origin|none)$/.test(`${site}`)
  if (!isOwn && !SAFE.has(method)) forbidden('This request comes from another site')
  next()
}

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Browsers send `null` for a page without an origin. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
