import { Controller, Field, Get, Header, Injectable, Item, Security, unauthorized } from 'sequitur'

/** A real app verifies a signed token, or reads it from the database with a `Session`. */
const owners: ReadonlyMap<string, string> = new Map([['Bearer let-me-in', 'Alfred']])

/** The user of a valid token. Routes that inject it answer 401 without one, and their OpenAPI operations document that. */
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
