import {
  Controller,
  Delete,
  Factory,
  Field,
  Get,
  Header,
  Injectable,
  Post,
  Security,
  select,
  Session,
  unauthorized,
} from 'sequitur'
import { findLogin, logIn, type Login } from './login.js'
import { hashPassword, isPassword, Person } from './person.js'

const CHALLENGE = { headers: { 'www-authenticate': 'Bearer' } }

/** The person whose token the request has. A handler that takes it, or a route that `requires` it, is a 401 for others. */
@Injectable()
@Security({ type: 'http', scheme: 'bearer' })
export class CurrentPerson {
  constructor(
    readonly login: Login,
    readonly person: Person,
  ) {}

  @Factory()
  static async of(session: Session, @Header({ optional: true }) authorization: string = '') {
    const login = await findLogin(authorization.replace(/^Bearer /i, ''), session)
    if (!login?.person) unauthorized('Send the header Authorization: Bearer <token>', CHALLENGE)
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

class Token {
  @Field() token!: string
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

  @Post('/login', Token, { status: 200, errors: { 401: 'Wrong name or password' } })
  async login({ name, password }: Credentials, session: Session) {
    const person = await session.first(select(Person, { where: { name } }))
    if (!(await isPassword(password, person?.password_hash)) || !person) unauthorized('Wrong name or password')
    return { token: await logIn(person, session) }
  }

  @Delete('/login', { status: 204 })
  logout({ login }: CurrentPerson, session: Session) {
    session.delete(login)
  }
}
