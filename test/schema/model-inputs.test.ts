import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Body, Controller, createApp, dto, Field, Get, Header, Item, Page, Path, Post, Query } from 'sequitur'
import { bootMessage } from '../support/api.js'
import { issuesOf } from '../support/echo.js'

@Table({ tableName: 'account', timestamps: false })
class Account extends Base<Account> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.ENUM('account'), allowNull: false }) declare kind: 'account'
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare balance: number
}
class Savings extends Account {}

class Guest {
  @Field({ enum: ['guest'] }) kind!: 'guest'
}
class Transfer {
  @Field({ type: Account }) from!: Account
}
class Transfers {
  @Field({ type: [Account] }) from!: Account[]
}
class Visit {
  @Field({ oneOf: [Guest, () => Account], discriminator: 'kind' }) who!: Guest | Account
  @Field({ type: () => Visit, optional: true }) next?: Visit
}
class Journey {
  @Field({ type: [Visit] }) visits!: Visit[]
}
class Named {
  @Field() name!: string
}
class Wider extends dto(Named, {}) {
  @Field({ type: [Transfer], nullable: true }) transfers!: Transfer[] | null
}
class Narrower extends dto(Wider, { pick: ['transfers'], partial: true }) {}

const taken = /is the model Account, so a client could set every column, including the primary key/
const cure = /class AccountInput extends dto\(Account, \{ omit: \['id'\] \}\) \{\}, with omit or pick/

const oneOf = { oneOf: [Guest, Account], discriminator: 'kind' } as const

/** A decorator for the parameter, or undefined for none; its type; and what the message calls the place. */
const places: readonly (readonly [decorator: ParameterDecorator | undefined, type: unknown, holder: string])[] = [
  [undefined, Account, 'its type'],
  [undefined, Transfer, 'Transfer.from'],
  [undefined, Transfers, 'Transfers.from'],
  [undefined, Visit, 'Visit.who'],
  [undefined, Journey, 'Visit.who'],
  [undefined, Wider, 'Transfer.from'],
  [undefined, Narrower, 'Transfer.from'],
  [Body(), Account, 'its type'],
  [Body({ optional: true, nullable: true }), Account, 'its type'],
  [Body({ type: [Account] }), Array, 'its type'],
  [Body({ type: () => Account }), Object, 'its type'],
  [Body({ type: [Transfer] }), Array, 'Transfer.from'],
  [Body(oneOf), Object, 'its type'],
  [Body(oneOf), Array, 'its type'],
  [Body({ type: Item.of(Account) }), Object, 'Item_Account.data'],
  [Body({ type: Page.of(Account) }), Object, 'Page_Account.data'],
  [Query(), Account, 'its type'],
  [Query({ type: [Account] }), Array, 'its type'],
  [Header(), Account, 'its type'],
  [Path(), Account, 'its type'],
]

for (const [decorator, type, holder] of places) {
  test(`a model does not come from the client: ${holder} of ${decorator ? 'a decorated' : 'a'} ${(type as { name: string }).name}`, () => {
    class Accounts {
      take(_input: unknown) {}
    }
    const descriptor = Object.getOwnPropertyDescriptor(Accounts.prototype, 'take') as TypedPropertyDescriptor<never>
    decorator?.(Accounts.prototype, 'take', 0)
    Post('/:_input', { params: [type] } as never)(Accounts.prototype, 'take', descriptor)
    Controller()(Accounts)
    const message = bootMessage([Accounts])
    assert.ok(message.startsWith(`InjectionError: Accounts.take, parameter 1 '_input': ${holder} `), message)
    assert.match(message, taken)
    assert.match(message, cure)
  })
}

test('a class below a model is one', () => {
  @Controller()
  class Accounts {
    @Post() create(_input: Savings) {}
  }
  assert.match(bootMessage([Accounts]), /is the model Savings[^]*dto\(Savings, \{ omit: \['id'\] \}\)/)
})

test('for a model without a key the message suggests to pick', () => {
  @Table({ tableName: 'note', timestamps: false })
  class Note extends Base<Note> {
    @Column({ type: DataType.STRING, allowNull: false }) declare text: string
  }
  @Controller()
  class Notes {
    @Post() create(_input: Note) {}
  }
  assert.match(
    bootMessage([Notes]),
    /a client could set every column\. Instead, use[^]*dto\(Note, \{ pick: \['text'\] \}\)/,
  )
})

test('a model is a response, alone and inside of others, and what dto() makes of it is a body', async () => {
  class AccountInput extends dto(Account, { omit: ['id'] }) {}
  class Opening {
    @Field({ type: [AccountInput] }) accounts!: AccountInput[]
  }
  const account = { id: 1, kind: 'account', balance: 0 } as const
  @Controller()
  class Accounts {
    @Get('/', [Transfer]) list() {
      return [{ from: account as never }]
    }
    @Post('/', Account) create(input: AccountInput) {
      return { ...input, id: 1 }
    }
    @Post('/many', [Account]) many({ accounts }: Opening) {
      return accounts.map((input, index) => ({ ...input, id: index }))
    }
  }
  const app = createApp({ controllers: [Accounts], logger: false })
  assert.deepEqual((await app.inject('/')).json(), [{ from: account }])
  const post = (url: string, payload: object) => app.inject({ method: 'POST', url, payload })
  const { id: _, ...input } = account
  assert.deepEqual((await post('/', input)).json(), account)
  assert.deepEqual((await post('/many', { accounts: [input] })).json(), [{ ...account, id: 0 }])
  assert.deepEqual(issuesOf(await post('/', account)), ['/id is not a known field'])
})
