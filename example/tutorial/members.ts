import { Controller, Field, Get, Post, Session } from 'sequitur'
import { CurrentMember, hashOf, Member, newToken } from './member.js'

class NewMember {
  @Field({ minLength: 1, maxLength: 100 }) name!: string
}

class Registration {
  @Field() name!: string
  @Field({ description: 'It is shown only once.' }) token!: string
}

class Profile {
  @Field() name!: string
}

@Controller('/members')
export class MemberController {
  @Post('/', Registration)
  register({ name }: NewMember, session: Session) {
    const token = newToken()
    session.add(Member.build({ name, token_hash: hashOf(token) }))
    return { name, token }
  }

  @Get('/me', Profile)
  me({ member }: CurrentMember) {
    return member
  }
}
