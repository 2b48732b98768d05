import { Controller, Field, Get, Header, Injectable, Item, Security, unauthorized } from 'sequitur'

/** A real app would verify a signed token, or look it up with a `Session`. */
const owners: ReadonlyMap<string, string> = new Map([['Bearer let-me-in', 'Alfred']])

/** Who asks. Whatever injects it answers 401 to everybody else, and is documented so. */
@Injectable()
@Security({ type: 'http', scheme: 'bearer', description: 'The token of this example is `let-me-in`.' })
export class BearerUser {
  readonly name: string

  constructor(@Header({ optional: true }) authorization: string = '') {
    const headers = { 'www-authenticate': 'Bearer' }
    this.name = owners.get(authorization) ?? unauthorized('Send the header Authorization: Bearer <token>', { headers })
  }
}

class Account {
  @Field() name!: string
}

@Controller('/account')
export class AccountController {
  @Get('/', Item.of(Account), { summary: 'Who am I?' })
  get(user: BearerUser) {
    return { data: { name: user.name } }
  }
}
