import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Factory, Get, Header, Injectable, provide, Security, Session, sql, unauthorized } from 'sequitur'
import { api, bootMessage } from '../support/api.js'
import { databaseApp, databases } from '../support/databases.js'

@Injectable({ lifetime: 'application' })
class Names {
  static made = 0
  readonly #names: ReadonlyMap<string, string>
  private constructor(names: ReadonlyMap<string, string>) {
    this.#names = names
  }
  @Factory() static async load() {
    await new Promise((resolve) => setImmediate(resolve))
    Names.made++
    return new Names(new Map([['1', 'Robin']]))
  }
  of(id: string) {
    return this.#names.get(id)
  }
}

@Injectable()
class User {
  constructor(readonly name: string) {}
  @Factory() static async of(names: Names, id: number, @Header({ optional: true }) x_prefix: string = 'user') {
    await undefined
    return new this(`${x_prefix} ${names.of(String(id)) ?? unauthorized('Who?')}`)
  }
}

@Injectable()
class Shouting extends User {
  get loud() {
    return this.name.toUpperCase()
  }
}

@Controller('/users')
class Users {
  @Get('/:id') get(id: number, user: User) {
    return { id, name: user.name, isUser: user instanceof User }
  }
  @Get('/:id/loud') loud(user: Shouting) {
    return { loud: user.loud, isShouting: user instanceof Shouting }
  }
}

test('an asynchronous factory method creates an instance for each request, of variables, headers and services', async (t) => {
  const { fetch } = await api(t, [Users])
  assert.deepEqual(await (await fetch('/users/1')).json(), { id: 1, name: 'user Robin', isUser: true })
  const named = await fetch('/users/1', { headers: { 'x-prefix': 'Mr' } })
  assert.deepEqual(await named.json(), { id: 1, name: 'Mr Robin', isUser: true })
  assert.equal((await fetch('/users/2')).status, 401)
  assert.equal((await fetch('/users/x')).status, 422)
  assert.equal(Names.made, 1)
})

test('a subclass inherits it', async (t) => {
  const { fetch } = await api(t, [Users])
  assert.deepEqual(await (await fetch('/users/1/loud')).json(), { loud: 'USER ROBIN', isShouting: true })
})

test('a provider replaces it', async (t) => {
  const robin = Object.assign(Object.create(User.prototype) as User, { name: 'a double' })
  const { fetch } = await api(t, [Users], { providers: [provide(User, { value: robin })] })
  assert.deepEqual(await (await fetch('/users/7')).json(), { id: 7, name: 'a double', isUser: true })
})

@Injectable()
class Nobody {
  // A program without a type check may return anything.
  @Factory() static of(): Nobody {
    return {} as Nobody
  }
  private secret = 1
  reveal() {
    return this.secret
  }
}

@Controller('/nobody')
class Wrong {
  @Get() get(nobody: Nobody) {
    return nobody.reveal()
  }
}

test('what is no instance of the class is a 500, and the log says what to return', async (t) => {
  const { fetch, log } = await api(t, [Wrong])
  assert.equal((await fetch('/nobody')).status, 500)
  assert.match(log.join(), /Nobody\.of\(\) with @Factory\(\) returned no instance of Nobody\. Return one: new Nobody/)
})

test('an instance method, and a second factory method, stop the start', () => {
  const decorate = Factory() as (target: object, member: string) => void
  class One {
    static of() {
      return new One()
    }
    make() {
      return new One()
    }
  }
  assert.throws(() => decorate(One.prototype, 'make'), /@Factory\(\) on One\.make: .* Write static make\(\.\.\.\)/)
  decorate(One, 'of')
  assert.throws(() => decorate(One, 'other'), /One has two methods with @Factory\(\), of and other\. Keep one\./)
})

@Injectable({ lifetime: 'application' })
class OfRequest {
  @Factory() static of(@Header() host: string) {
    void host
    return new OfRequest()
  }
}

@Controller('/')
class OfRequests {
  @Get() get(_service: OfRequest) {}
}

test('a service of the app whose factory method reads the request stops the start', () => {
  assert.match(bootMessage([OfRequests]), /OfRequest lives as long as the app, but injects an input of the request/)
})

@Injectable()
@Security({ type: 'http', scheme: 'bearer' })
class Account {
  private constructor(readonly answer: number) {}
  @Factory() static async of(session: Session, @Header({ optional: true }) authorization: string = '') {
    const [row] = await session.execute<{ answer: number }>(sql`SELECT 41 + 1 AS answer`)
    return new Account(authorization === 'Bearer x' && row ? Number(row.answer) : unauthorized())
  }
}

@Controller('/account')
class Accounts {
  @Get('/:page') get(page: number, account: Account) {
    return { page, answer: account.answer }
  }
}

for (const database of databases) {
  test(`${database.name}: it reads the database in the handler's transaction, before other inputs are validated`, async (t) => {
    const { fetch } = await databaseApp(t, database, [], [Accounts])
    const authorized = { headers: { authorization: 'Bearer x' } }
    assert.deepEqual(await (await fetch('/account/1', authorized)).json(), { page: 1, answer: 42 })
    assert.equal((await fetch('/account/x')).status, 401)
    assert.equal((await fetch('/account/x', authorized)).status, 422)
  })
}
