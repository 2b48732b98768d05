import assert from 'node:assert/strict'
import { test } from 'node:test'
import { col, fn, literal, Op, type Order } from 'sequelize'
import { BelongsTo, Column, DataType, DefaultScope, ForeignKey, HasMany, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  Field,
  Get,
  Inject,
  type MappedPaginate,
  newPagination,
  Page,
  Paginate,
  type PaginateType,
  select,
  Session,
  sql,
} from 'sequitur'
import { type DatabaseApp, databaseApp, databases, statements } from '../support/databases.js'
import { random } from '../support/fuzz.js'

@Table({ tableName: 'team', timestamps: false })
class Team extends Base<Team> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING }) declare name: string | null
}

@DefaultScope(() => ({ where: { hidden: false } }))
@Table({ tableName: 'post', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class Post extends Base<Post> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare season: number
  @Column({ type: DataType.INTEGER, primaryKey: true, field: 'post_no' }) declare no: number
  @Column({ type: DataType.INTEGER }) declare score: number | null
  @Column({ type: DataType.BOOLEAN, allowNull: false }) declare hidden: boolean
  @Column({ type: DataType.DATE }) declare deletedAt: Date | null
  @ForeignKey(() => Team)
  @Column({ type: DataType.INTEGER })
  declare team_id: number | null
  @BelongsTo(() => Team) declare team?: unknown
  @HasMany(() => Comment, { foreignKey: 'post_no', sourceKey: 'no' }) declare comments?: Comment[]
}

@Table({ tableName: 'comment', timestamps: false })
class Comment extends Base<Comment> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare stars: number
  @Column({ type: DataType.INTEGER }) declare post_no: number
}

class CommentModel {
  @Field({ type: 'integer' }) id!: number
}
class PostModel {
  @Field({ type: 'integer' }) season!: number
  @Field({ type: 'integer' }) no!: number
  @Field({ type: [CommentModel], optional: true }) comments?: CommentModel[]
}
class StickyModel {
  @Field({ type: 'integer' }) id!: number
  @Field() body!: string
  @Field({ type: 'integer' }) user_id!: number
  @Field() user_name!: string
}
interface StickyRow {
  id: number
  body: string
  user_id: number
  name: string
}

let options: NonNullable<Parameters<typeof select<Post>>[1]> = {}
const counted: unknown[] = []
const stickies = newPagination({
  map: ({ name, ...row }: StickyRow) => ({ ...row, user_name: name }),
  count: (session: Session) => session.count(select(Comment)),
})
const estimated = newPagination({
  count: (_, statement) => {
    counted.push(statement.kind)
    return 4711
  },
})
class Doubled extends newPagination({
  map: (post: Post) => Promise.resolve({ season: post.season, no: post.no * 2 }),
}) {}

const text = sql<StickyRow>`
  SELECT comment.id AS id, 'body' AS body, team.id AS user_id, team.name AS name
  FROM comment JOIN team ON team.id = comment.stars WHERE comment.id >= ${0} ORDER BY comment.id -- by age;
`

@Controller('/')
class Lists {
  @Get('/posts', Page.of(PostModel)) list(paginate: Paginate<PostModel>) {
    return paginate(select(Post, options) as never)
  }
  @Get('/stickies', Page.of(StickyModel)) stickies(@Inject(stickies) paginate: MappedPaginate<StickyRow, StickyModel>) {
    return paginate(text)
  }
  @Get('/estimated', Page.of(PostModel)) estimated(@Inject(estimated) paginate: PaginateType<PostModel>) {
    return paginate(select(Post, options) as never)
  }
  @Get('/doubled', Page.of(PostModel)) doubled(paginate: Doubled) {
    return paginate(select(Post, { order: ['no'] }))
  }
  @Get('/few', Page.of(CommentModel)) few(paginate: Paginate<CommentModel>) {
    return paginate(sql<CommentModel>`SELECT id FROM comment ORDER BY id DESC LIMIT 7`)
  }
  @Get('/union', Page.of(CommentModel)) union(paginate: Paginate<CommentModel>) {
    return paginate(
      sql<CommentModel>`SELECT id FROM comment WHERE id < ${5} UNION SELECT id FROM comment WHERE id > ${95} ORDER BY id;`,
    )
  }
}

interface AnyPage {
  readonly data: readonly Record<string, unknown>[]
  readonly meta: { readonly total_items: number }
}

const models = [Team, Post, Comment]
const COMMENTS = 100

async function fill(): Promise<void> {
  const next = random(5)
  const orNull = (value: number) => (next(4) === 0 ? null : value)
  await Team.bulkCreate([0, 1, 2, 3, 4].map((id) => ({ id, name: 'BABAC'[id] })) as never)
  await Post.bulkCreate(
    Array.from({ length: 40 }, (_, index) => ({
      season: index % 2,
      no: Math.floor(index / 2),
      score: orNull(next(5)),
      hidden: next(6) === 0,
      deletedAt: next(6) === 0 ? new Date() : null,
      team_id: orNull(next(4)),
    })) as never,
  )
  await Comment.bulkCreate(
    Array.from({ length: COMMENTS }, (_, id) => ({ id, post_no: next(20), stars: next(5) })) as never,
  )
}

const lists: Readonly<Record<string, typeof options>> = {
  children: { include: [Comment] },
  'children and an order': { include: [Comment], order: [['score', 'DESC']] },
  'children, by a column of what it belongs to': {
    include: [Comment, Team],
    order: [
      ['team', 'name', 'DESC'],
      ['score', 'ASC'],
    ],
  },
  'children in an order of their own': { include: [Comment], order: ['score', ['comments', 'stars', 'DESC']] },
  'children, by a name that the attributes give': {
    attributes: { include: [[literal('score * 2'), 'doubled']] },
    include: [Comment],
    order: [['doubled', 'DESC']] as Order,
  },
  'required children, by such a name in a text': {
    attributes: { include: [[literal('score * 2'), 'doubled']] },
    include: [{ model: Comment, required: true }],
    order: [literal('doubled DESC'), col('doubled')],
  },
  'required children, locked': { include: [{ model: Comment, required: true }], lock: true, order: ['score'] },
  'children in an order of their own, by the association': {
    include: [Comment],
    get order(): Order {
      return ['score', [Post.associations['comments'] as never, 'stars', 'DESC']]
    },
  },
  'required children': { include: [{ model: Comment, where: { stars: { [Op.gt]: 3 } } }], order: ['score'] },
  'required children, by an expression': {
    include: [{ model: Comment, required: true }],
    order: [[fn('abs', col('score')), 'DESC'], literal('score + 1')],
  },
  'a condition on children': { include: [Comment], where: { '$comments.stars$': 4 } as never },
  'a condition in a text': { include: [Comment, Team], where: literal(`team.name = 'A'`) as never },
  'a required one': { include: [{ model: Team, where: { name: 'A' } }], order: [['team', 'id', 'ASC']] },
  'deleted ones too': { paranoid: false, include: [Comment] },
  'what overrules the scope': { where: { hidden: true } },
}

async function read({ fetch, log }: DatabaseApp, path: string) {
  const response = await fetch(path)
  const body = await response.text()
  assert.equal(response.status, 200, `${body}\n${log.slice(-3).join('\n')}`)
  return { ...JSON.parse(body), link: response.headers.get('link') }
}

async function assertPosts(app: DatabaseApp, name: string, sizes: readonly number[]): Promise<void> {
  const given = lists[name] ?? {}
  options = given
  const order = [...((given.order as []) ?? []), ['season', 'ASC'], ['no', 'ASC']] as Order
  const all = await Post.findAll({ ...given, order })
  const ids = new Set(all.map(({ season, no }) => `${season} ${no}`))
  assert.ok(all.length > 2 && ids.size === all.length)
  for (const limit of sizes) {
    const seen = []
    for (let offset = 0; offset < all.length; offset += limit) {
      const { data, meta } = await read(app, `/posts?limit=${limit}&offset=${offset}`)
      assert.equal(meta.total_items, all.length)
      seen.push(...data)
    }
    const sorted = (rows: readonly { id: number }[] | undefined) => rows?.map(({ id }) => id).toSorted((a, b) => a - b)
    const whole = (post: PostModel) => [post.season, post.no, sorted(post.comments)]
    assert.deepEqual(seen.map(whole), name.includes('of their own') ? seen.map(whole) : all.map(whole))
    assert.deepEqual(new Set(seen.map(({ season, no }) => `${season} ${no}`)), ids)
  }
}

async function assertLinks(app: DatabaseApp): Promise<void> {
  const links = async (query: string) => (await read(app, `/union?${query}`)).link.replaceAll('/union?', '')
  assert.equal(
    await links('limit=2&offset=4&tag=x'),
    '<tag=x&offset=0&limit=2>; rel="first", <tag=x&offset=2&limit=2>; rel="prev", <tag=x&offset=6&limit=2>; rel="next", <tag=x&offset=8&limit=2>; rel="last"',
  )
  assert.equal(await links('limit=10'), '<offset=0&limit=10>; rel="first", <offset=0&limit=10>; rel="last"')
  assert.match(await links('limit=2&offset=100'), /<offset=8&limit=2>; rel="prev", <offset=8&limit=2>; rel="last"/)
}

for (const kind of databases) {
  test(`offset pages of any statement on ${kind.name}`, async (t) => {
    const app = await databaseApp(t, kind, models, [Lists])
    await fill()
    // Pages of one row differ from others in their number alone.
    const sizes = kind === databases[0] ? [1, 3, 100] : [3, 100]
    for (const name of Object.keys(lists))
      await t.test(`with ${name}: pages of every size are the whole list, and the total is its length`, () =>
        assertPosts(app, name, sizes),
      )
    await t.test('COUNT leaves out left joins that no condition mentions', async () => {
      options = { include: [Comment, Team], order: ['score'] }
      app.log.length = 0
      await read(app, '/posts?limit=1')
      const [count = ''] = statements(app.log).filter((line) => /count\(/i.test(line))
      assert.doesNotMatch(count, /JOIN/)
    })
    await t.test('a page after the end is empty, even if the statement rejects an empty result', async () => {
      for (const include of [[], [Comment]]) {
        options = Object.assign({ include }, { rejectOnEmpty: true }) // which Sequelize's type leaves out
        const { data, meta } = await read(app, '/posts?offset=1000')
        assert.deepEqual([data, meta.total_items > 0], [[], true])
      }
    })
    await t.test('raw SQL is paged in its own order, with mapped rows and the count of the paginator', async () => {
      const { data, meta } = await read(app, '/stickies')
      assert.deepEqual([data.length, meta.total_items, meta.total_pages], [10, COMMENTS, 10])
      assert.deepEqual(Object.keys(data[0]), ['id', 'body', 'user_id', 'user_name'])
      assert.deepEqual(
        data.map(({ id }: StickyModel) => id),
        data.map((_: unknown, index: number) => index),
      )
    })
    await t.test('a count function receives the statement, and its result is the total', async () => {
      options = {}
      assert.equal((await read(app, '/estimated?limit=2')).meta.total_items, 4711)
      assert.equal(counted.at(-1), 'select')
    })
    await t.test('a map function may be asynchronous', async () => {
      const { data } = await read(app, '/doubled?limit=3&offset=3')
      assert.equal(
        data.every(({ no }: PostModel) => no % 2 === 0),
        true,
      )
    })
    await t.test('the LIMIT of raw SQL applies before the pages', async () => {
      const { data, meta } = await read(app, '/few?limit=5&offset=5')
      assert.deepEqual([data, meta.total_items], [[{ id: 94 }, { id: 93 }], 7])
    })
    await t.test('a UNION is paged as a whole', async () => {
      const { data, meta } = await read(app, '/union?limit=3&offset=4')
      assert.deepEqual([data, meta.total_items], [[{ id: 4 }, { id: 96 }, { id: 97 }], 9])
    })
    await t.test('the Link header names the first, the previous, the next and the last page', () => assertLinks(app))
  })

  test(`on ${kind.name} total and data of one page agree while others insert`, async (t) => {
    const { fetch, database } = await databaseApp(t, kind, models, [Lists])
    options = { order: [['season', 'DESC']] }
    const add = (season: number) => ({ season, no: 0, score: null, hidden: false, deletedAt: null, team_id: null })
    await Post.bulkCreate([1, 2, 3].map(add) as never)
    let season = 3
    const reading = new AbortController()
    const writing = (async () => {
      while (!reading.signal.aborted)
        await database.session(async () => void (await Post.create(add(++season) as never)))
    })()
    for (let turn = 0; turn < 40; turn++) {
      const { data, meta } = (await (await fetch('/posts?limit=2')).json()) as AnyPage
      assert.equal(data[0]?.['season'], meta.total_items) // the seasons are counted from 1 without a gap
    }
    reading.abort()
    await writing
  })
}

for (const wrong of [{ count: 1 }, { map: 'x' }, { count: null }]) {
  test(`newPagination(${JSON.stringify(wrong)}) is refused at once`, () => {
    assert.throws(() => newPagination(wrong as never), /newPagination\(\): (count|map) must be a function/)
  })
}
