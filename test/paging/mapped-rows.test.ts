import assert from 'node:assert/strict'
import { test } from 'node:test'
import { col } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  Field,
  Get,
  Inject,
  type MappedPaginate,
  new_pagination,
  Page,
  Paginate,
  type PaginateType,
  select,
  sql,
} from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { databaseApp, databases } from '../support/databases.js'
import { walk } from '../support/walk.js'

/* Users and their stickies: a list, one with smaller pages, and one of two joined tables with a count and a map function. */

@Table({ tableName: 'user', timestamps: false })
class User extends Base<User> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare email: string
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}

@Table({ tableName: 'sticky', timestamps: false })
class Sticky extends Base<Sticky> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @ForeignKey(() => User)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare user_id: number
  @Column({ type: DataType.STRING, allowNull: false }) declare body: string
  @BelongsTo(() => User) declare user?: unknown
  declare user_email: string
  declare user_name: string
}

/** The same by select(): columns of the joined table under aliases that are no columns of the model. */
const joined = {
  attributes: ['id', 'body', 'user_id', [col('user.email'), 'user_email'], [col('user.name'), 'user_name']],
  include: [{ association: 'user', attributes: [] }],
  order: [
    ['user_name', 'DESC'],
    ['body', 'ASC'],
  ],
} as never

class UserModel {
  @Field({ type: 'integer' }) id!: number
  @Field() email!: string
  @Field() name!: string
}

class StickyModel {
  @Field({ type: 'integer' }) id!: number
  @Field() body!: string
  @Field({ type: 'integer' }) user_id!: number
  @Field() user_email!: string
  @Field() user_name!: string
}

const smallPages = new_pagination({ default_page_size: 5 })
const stickyPages = new_pagination({
  count: (session) => session.count(select(Sticky)),
  map: (row: StickyModel): StickyModel => ({ ...row }),
})

@Controller('/')
class Lists {
  @Get('/pagination', Page.of(UserModel)) users(paginate: Paginate<UserModel>) {
    return paginate(select(User))
  }
  @Get('/small-pagination', Page.of(UserModel)) small(@Inject(smallPages) paginate: PaginateType<UserModel>) {
    return paginate(select(User))
  }
  @Get('/custom-pagination', Page.of(StickyModel))
  stickies(@Inject(stickyPages) paginate: MappedPaginate<StickyModel, StickyModel>) {
    return paginate(sql<StickyModel>`
      SELECT sticky.id, sticky.body, users.id AS user_id, users.email AS user_email, users.name AS user_name
      FROM sticky JOIN ${quotedUser()} AS users ON users.id = sticky.user_id
      ORDER BY sticky.id`)
  }
  @Get('/joined', Page.of(StickyModel)) joined(paginate: Paginate<StickyModel>) {
    return paginate(select(Sticky, joined))
  }
  @Get('/joined-by-cursor', CursorPage.of(StickyModel)) joinedByCursor(paginate: CursorPaginate<StickyModel>) {
    return paginate(select(Sticky, joined))
  }
}

// A reserved word on PostgreSQL.
function quotedUser() {
  return User.sequelize?.getDialect() === 'postgres' ? sql`"user"` : sql`user`
}

const USERS = 42
const STICKIES = 5

for (const kind of databases) {
  test(`on ${kind.name} users and their stickies are paged`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [User, Sticky], [Lists])
    const ids = Array.from({ length: USERS }, (_, index) => index + 1)
    await User.bulkCreate(ids.map((id) => ({ email: `user${id}@example.org`, name: `User ${id}` })) as never[])
    const bodies = ids.flatMap((user_id) =>
      Array.from({ length: STICKIES }, (_, n) => ({ user_id, body: `note ${n}` })),
    )
    await Sticky.bulkCreate(bodies as never[])
    const read = async (path: string) => {
      const answer = await fetch(path)
      assert.equal(answer.status, 200)
      return (await answer.json()) as { data: StickyModel[]; meta: object }
    }

    const last = await read('/pagination?offset=40')
    assert.equal(last.data.length, 2)
    assert.deepEqual(last.meta, { offset: 40, total_items: USERS, total_pages: 5, page_number: 5 })

    for (const [query, items] of [
      ['', 5],
      ['?limit=1', 1],
      ['?limit=100', USERS],
    ] as const)
      assert.equal((await read(`/small-pagination${query}`)).data.length, items)

    const { data, meta } = await read('/custom-pagination')
    assert.deepEqual(meta, { offset: 0, total_items: USERS * STICKIES, total_pages: 21, page_number: 1 })
    assert.equal(data.length, 10)
    assert.deepEqual(data[5], {
      id: 6,
      body: 'note 0',
      user_id: 2,
      user_email: 'user2@example.org',
      user_name: 'User 2',
    })

    const first = await read('/joined?limit=1')
    assert.deepEqual(first.meta, { offset: 0, total_items: USERS * STICKIES, total_pages: 210, page_number: 1 })
    const user = { user_id: 9, user_email: 'user9@example.org', user_name: 'User 9' }
    assert.deepEqual(first.data, [{ id: 41, body: 'note 0', ...user }])
    const all = [0, 100, 200].map((offset) => read(`/joined?limit=100&offset=${offset}`))
    const whole = (await Promise.all(all)).flatMap(({ data }) => data)
    assert.deepEqual(await walk(fetch, '/joined-by-cursor', 13), whole)
  })
}
