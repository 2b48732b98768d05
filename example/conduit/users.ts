import { Body, Controller, Delete, dto, Field, Get, named, Post, Put, select, Session, Transactional } from 'sequitur'
import { Jobs } from 'sequitur/jobs'
import { CurrentUser, hashPassword, isPassword, Tokens } from './auth.js'
import { refuse } from './errors.js'
import { MailJobs } from './mail.js'
import { findsNewRows, Follow, User } from './models.js'
import { Profile, Views } from './views.js'

const BLANK = { minLength: 1, message: "can't be blank" } as const

class Login {
  @Field({ ...BLANK, maxLength: 200 }) email!: string
  @Field({ ...BLANK, maxLength: 200 }) password!: string
}
class NewUser extends dto(User, { pick: ['username', 'email'] }) {
  @Field({ ...BLANK, maxLength: 200 }) password!: string
}
class UserChanges extends dto(NewUser, { partial: true }) {
  @Field({ type: String, optional: true, nullable: true }) bio?: string | null
  @Field({ type: String, optional: true, nullable: true }) image?: string | null
}

class UserView extends dto(User, { pick: ['email', 'username', 'bio', 'image'] }) {
  @Field() token!: string
}
const UserResponse = named('UserResponse', { user: UserView })
const ProfileResponse = named('ProfileResponse', { profile: Profile })

@Controller('/')
export class UserController {
  constructor(private readonly tokens: Tokens) {}

  @Post('/users', UserResponse)
  async register(@Body({ type: { user: NewUser } }) input: { user: NewUser }, session: Session, jobs: Jobs) {
    const { password, ...names } = input.user
    const user = session.add(User.build({ ...names, password_hash: await hashNew(password) }))
    await session.flush()
    await jobs.add(MailJobs, 'welcome', { user_id: user.id })
    return this.#view(user)
  }

  @Post('/users/login', UserResponse, { status: 200, errors: { 401: 'invalid' } })
  async login(@Body({ type: { user: Login } }) input: { user: Login }, session: Session) {
    const { email, password } = input.user
    const user = await session.first(select(User, { where: { email } }))
    if (!(await isPassword(password, user)) || !user) return refuse(401, 'credentials', 'invalid')
    return this.#view(user)
  }

  @Get('/user', UserResponse)
  current({ user }: CurrentUser) {
    return this.#view(user)
  }

  @Put('/user', UserResponse)
  async update(@Body({ type: { user: UserChanges } }) input: { user: UserChanges }, { user }: CurrentUser) {
    const { password, ...changes } = input.user
    for (const name of ['bio', 'image'] as const) if (changes[name] === '') changes[name] = null
    const hashed = password === undefined ? {} : { password_hash: await hashNew(password) }
    await user.update({ ...changes, ...hashed })
    return this.#view(user)
  }

  async #view(user: User) {
    const { email, username, bio = null, image = null } = user
    return { user: { email, username, bio, image, token: await this.tokens.sign(user) } }
  }
}

@Controller('/profiles/:username')
export class ProfileController {
  @Get('/', ProfileResponse, { errors: { 404: 'not found' } })
  async get(username: string, views: Views, session: Session) {
    return { profile: await views.profile(await findUser(username, session)) }
  }

  @Post('/follow', ProfileResponse, { status: 200, errors: { 404: 'not found' } })
  @Transactional(findsNewRows)
  async follow(username: string, { user }: CurrentUser, views: Views, session: Session) {
    const followed = await findUser(username, session)
    await Follow.findOrCreate({ where: { follower_id: user.id, followed_id: followed.id } })
    return { profile: await views.profile(followed) }
  }

  @Delete('/follow', ProfileResponse, { errors: { 404: 'not found' } })
  async unfollow(username: string, { user }: CurrentUser, views: Views, session: Session) {
    const followed = await findUser(username, session)
    await Follow.destroy({ where: { follower_id: user.id, followed_id: followed.id } })
    return { profile: await views.profile(followed) }
  }
}

/** The least length is that of NIST SP 800-63B, 5.1.1.2. */
async function hashNew(password: string): Promise<string> {
  if (password.length < 8) refuse(422, 'password', 'is too short (minimum is 8 characters)')
  return hashPassword(password)
}

async function findUser(username: string, session: Session): Promise<User> {
  return (await session.first(select(User, { where: { username } }))) ?? refuse(404, 'profile', 'not found')
}
