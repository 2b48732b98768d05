import {
  Controller,
  Cookie,
  Delete,
  Factory,
  Field,
  Get,
  Injectable,
  Post,
  reply,
  Security,
  select,
  Session,
  unauthorized,
} from 'sequitur'
import { findLogin, logIn, type Login, LOGIN_SECONDS } from './login.js'
import { hashPassword, isPassword, Person } from './person.js'

/** HttpOnly: no script reads it. SameSite=Lax: other sites send it with links, and not with forms. Browsers accept Secure on localhost, too. */
function cookie(key: string, seconds: number): string {
  return `sid=${key}; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=${seconds}`
}

/** The person who is logged in. A handler that takes it, or a route that `requires` it, is a 401 for others. */
@Injectable()
@Security({ type: 'apiKey', in: 'cookie', name: 'sid' })
export class CurrentPerson {
  constructor(
    readonly login: Login,
    readonly person: Person,
  ) {}

  @Factory()
  static async of(session: Session, @Cookie({ optional: true }) sid: string = '') {
    const login = await findLogin(sid, session)
    if (!login?.person) unauthorized('Log in first')
    return new CurrentPerson(login, login.person)
  }
}

class Credentials {
  @Field({ minLength: 1, maxLength: 100 }) name!: string
  @Field({ minLength: 8, maxLength: 200 }) password!: string
}

class Profile {
  @Field({ type: 'integer' }) id!: number
  @Field() name!: string
}

@Controller('/account')
export class AccountController {
  /** A name that is taken is a 409, as the column is unique. */
  @Post('/', Profile)
  async register({ name, password }: Credentials, session: Session) {
    return session.add(Person.build({ name, password_hash: await hashPassword(password) }))
  }

  @Get('/', Profile)
  profile({ person }: CurrentPerson) {
    return person
  }

  @Post('/login', { status: 204, errors: { 401: 'Wrong name or password' } })
  async login({ name, password }: Credentials, session: Session) {
    const person = await session.first(select(Person, { where: { name } }))
    if (!(await isPassword(password, person?.password_hash)) || !person) unauthorized('Wrong name or password')
    const key = await logIn(person, session)
    return reply(undefined, { headers: { 'set-cookie': cookie(key, LOGIN_SECONDS) } })
  }

  @Delete('/login', { status: 204 })
  logout({ login }: CurrentPerson, session: Session) {
    session.delete(login)
    return reply(undefined, { headers: { 'set-cookie': cookie('', 0) } })
  }
}
