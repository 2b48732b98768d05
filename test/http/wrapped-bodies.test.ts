import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Body, Controller, dto, Field, Item, Post, Query } from 'sequitur'
import { z } from 'zod'
import { databaseApp, databases, sqliteMemory } from '../support/databases.js'
import { conformsTo } from '../support/documented.js'

/*
 * A body whose properties are within an object, { user: { email } }: errors of the database and of models name the property there.
 */

@Table({ tableName: 'user', timestamps: false })
class User extends Base<User> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare email: string
  @Column({
    type: DataType.STRING,
    allowNull: false,
    validate: {
      isTaken(value: string) {
        if (value === 'root') throw new Error('must not be root')
      },
    },
  })
  declare name: string
}

class NewUser {
  @Field() email!: string
  @Field() name!: string
}
class Wrapped {
  @Field({ type: NewUser }) user!: NewUser
}
class Deep {
  @Field({ type: Wrapped }) data!: Wrapped
}
class Many {
  @Field({ type: [NewUser] }) users!: NewUser[]
}
class Two {
  @Field({ type: NewUser }) buyer!: NewUser
  @Field({ type: NewUser }) seller!: NewUser
}
class Tree {
  @Field({ optional: true }) email?: string
  @Field({ optional: true }) name?: string
  @Field({ type: () => Tree, optional: true }) child?: Tree
}
class WrappedDto {
  @Field({ type: dto(User, { omit: ['id'], name: 'UserInput' }) }) user!: Pick<User, 'email' | 'name'>
}
class UserView {
  @Field() email!: string
}
class Answer {
  @Field({ type: UserView }) user!: UserView
}

const zodBody = z.object({ user: z.object({ email: z.string(), name: z.string() }) })

async function create({ email, name }: { readonly email?: string; readonly name?: string }): Promise<Answer> {
  return { user: await User.create({ email, name } as never) }
}

@Controller('/')
class Users {
  @Post('/wrapped', Answer) wrapped({ user }: Wrapped) {
    return create(user)
  }
  @Post('/dto', Item.of(UserView)) async dto({ user }: WrappedDto) {
    return { data: (await create(user)).user }
  }
  @Post('/deep', Answer) deep({ data }: Deep) {
    return create(data.user)
  }
  @Post('/zod', Answer) zod(@Body({ type: zodBody }) { user }: z.infer<typeof zodBody>) {
    return create(user)
  }
  @Post('/many') async many({ users }: Many) {
    for (const user of users) await create(user)
  }
  @Post('/two') async two({ buyer, seller }: Two) {
    await create(buyer)
    await create(seller)
  }
  @Post('/tree', Answer) tree(tree: Tree) {
    return create(tree)
  }
}

const taken = { email: 'a@b.co', name: 'a' }
const refused = { email: 'c@d.co', name: 'root' }

/** What each path is sent, and where the response says that `email` is taken, and `name` refused. */
const requests: readonly (readonly [path: string, body: (user: object) => object, email: string, name: string])[] = [
  ['/wrapped', (user) => ({ user }), '/user/email', '/user/name'],
  ['/dto', (user) => ({ user }), '/user/email', '/user/name'],
  ['/deep', (user) => ({ data: { user } }), '/data/user/email', '/data/user/name'],
  ['/zod', (user) => ({ user }), '/user/email', '/user/name'],
  // The message names the field where the path cannot.
  ['/many', (user) => ({ users: [user] }), '/users', '/users name'],
  ['/two', (user) => ({ buyer: user, seller: { email: 'e@f.co', name: 'b' } }), '', ' name'],
  ['/tree', (user) => user, '/email', '/name'],
]

for (const kind of databases) {
  test(`${kind.name}: what the database or a model refuses of a wrapped body is told at its place, and documented`, async (t) => {
    const { app, fetch, log } = await databaseApp(t, kind, [User], [Users], { lifespan: { echo: false } })
    const conforms = conformsTo(app)
    assert.equal((await fetch('/wrapped', { method: 'POST', json: { user: taken } })).status, 201)
    for (const [path, body, email, name] of requests) {
      const cases = [
        [taken, 409, `${email} email must be unique`],
        [refused, 422, `${name} must not be root`],
      ] as const
      for (const [user, status, issue] of cases) {
        const response = await fetch(path, { method: 'POST', json: body(user) })
        const text = await response.text()
        const { errors = [] } = JSON.parse(text) as { errors?: { in: string; path: string; message: string }[] }
        const issues = errors.map((one) => `${one.in} ${one.path} ${one.message}`)
        assert.deepEqual([response.status, issues], [status, [`body ${issue}`]], `${path} ${text} ${log.join('\n')}`)
        conforms('post', path, response, text)
        assert.deepEqual(log, [], path)
      }
    }
  })
}

test('errors of the database do not make a library write the JSON Schema of its body again', async (t) => {
  let written = 0
  const counting = {
    '~standard': {
      ...zodBody['~standard'],
      jsonSchema: {
        input: () => {
          written++
          return { ...z.toJSONSchema(zodBody, { io: 'input' }) }
        },
        output: () => ({ ...z.toJSONSchema(zodBody) }),
      },
    },
  } as const
  @Controller('/counted')
  class Counted {
    @Post() async add(@Body({ type: counting }) { user }: z.infer<typeof zodBody>, @Query() email: string) {
      void email
      await create(user)
    }
  }
  const { fetch } = await databaseApp(t, sqliteMemory, [User], [Counted])
  const user = { email: 'robin@example.com', name: 'Robin' }
  const send = () => fetch('/counted?email=x', { method: 'POST', json: { user } })
  assert.equal((await send()).status, 204)
  const atStart = written
  for (let request = 0; request < 3; request++) {
    const response = await send()
    assert.equal(response.status, 409)
    const { errors } = (await response.json()) as { errors: { in: string; path: string }[] }
    assert.deepEqual(
      errors.map((issue) => [issue.in, issue.path]),
      [['body', '/user/email']],
    )
  }
  assert.equal(written, atStart)
})
