import assert from 'node:assert/strict'
import { test } from 'node:test'
import { col, fn, literal, Op, type Order, type OrderItem } from 'sequelize'
import {
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  DefaultScope,
  ForeignKey,
  HasMany,
  HasOne,
  Table,
} from 'sequelize-typescript'
import { Base, Controller, Field, Get, select, sql } from 'sequitur'
import { Page, Paginate, typed } from 'sequitur/cursor'
import { type DatabaseApp, databaseApp, databases, type TestDatabase } from '../support/databases.js'
import { random } from '../support/fuzz.js'
import { walk } from '../support/walk.js'

@Table({ tableName: 'city', timestamps: false })
class City extends Base<City> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING, field: 'city_name' }) declare name: string | null
}

@Table({ tableName: 'team', timestamps: false })
class Team extends Base<Team> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @ForeignKey(() => City)
  @Column({ type: DataType.INTEGER })
  declare city_id: number | null
  @BelongsTo(() => City) declare city?: unknown
}

@Table({ tableName: 'player', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class Player extends Base<Player> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare season: number
  @Column({ type: DataType.INTEGER, primaryKey: true, field: 'shirt_no' }) declare shirt: number
  @Column({ type: DataType.STRING }) declare name: string | null
  @ForeignKey(() => Team)
  @Column({ type: DataType.INTEGER, field: 'team_id' })
  declare teamId: number | null
  @BelongsTo(() => Team) declare team?: unknown
  @Column({ type: DataType.DATE, field: 'gone' }) declare deletedAt: Date | null
}

@Table({ tableName: 'tag', timestamps: false })
class Tag extends Base<Tag> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING }) declare label: string
}

@DefaultScope(() => ({ where: { hidden: false } }))
@Table({ tableName: 'post', timestamps: false })
class Post extends Base<Post> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER }) declare score: number | null
  @Column({ type: DataType.BOOLEAN, allowNull: false }) declare hidden: boolean
  @ForeignKey(() => Team)
  @Column({ type: DataType.INTEGER })
  declare team_id: number | null
  @BelongsTo(() => Team) declare team?: unknown
  @HasOne(() => Cover) declare cover?: unknown
  @HasMany(() => Comment) declare comments?: Comment[]
  @BelongsToMany(() => Tag, () => PostTag) declare tags?: Tag[]
}

@Table({ tableName: 'cover', timestamps: false })
class Cover extends Base<Cover> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING, field: 'cover_title' }) declare title: string | null
  @ForeignKey(() => Post)
  @Column({ type: DataType.INTEGER, field: 'of_post' })
  declare postId: number
  @ForeignKey(() => City)
  @Column({ type: DataType.INTEGER })
  declare city_id: number | null
  @BelongsTo(() => City) declare city?: unknown
}

@Table({ tableName: 'comment', timestamps: false })
class Comment extends Base<Comment> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare stars: number
  @ForeignKey(() => Post)
  @Column({ type: DataType.INTEGER })
  declare post_id: number
}

@Table({ tableName: 'post_tag', timestamps: false })
class PostTag extends Base<PostTag> {
  @ForeignKey(() => Post)
  @Column({ type: DataType.INTEGER, primaryKey: true })
  declare post_id: number
  @ForeignKey(() => Tag)
  @Column({ type: DataType.INTEGER, primaryKey: true })
  declare tag_id: number
}

class Shirt {
  @Field({ type: 'integer' }) season!: number
  @Field({ type: 'integer' }) shirt!: number
}
class Id {
  @Field({ type: 'integer' }) id!: number
}
class PostModel extends Id {
  @Field({ type: [Id], optional: true }) comments?: Id[]
  @Field({ type: [Id], optional: true }) tags?: Id[]
}

type Options = NonNullable<Parameters<typeof select<Post>>[1]>
let posts: Options = {}
let players: NonNullable<Parameters<typeof select<Player>>[1]> = {}
const given: unknown[] = []

@Controller('/')
class Lists {
  @Get('/posts', Page.of(PostModel)) list(paginate: Paginate<PostModel>) {
    return paginate(select(Post, posts) as never)
  }
  @Get('/players', Page.of(Shirt)) async players(paginate: Paginate<Shirt>) {
    const page = await paginate(select(Player, players))
    given.push(...page.data.map((player) => (player as Player).toJSON()))
    return page
  }
  @Get('/text', Page.of(Id)) text(paginate: Paginate<Id>) {
    return paginate(sql`SELECT id FROM post ORDER BY id` as never)
  }
}

const models = [City, Team, Player, Tag, Post, Cover, Comment, PostTag]

async function fill(): Promise<void> {
  const next = random(3)
  const orNull = (value: number) => (next(4) === 0 ? null : value)
  await City.bulkCreate([1, 2, 3].map((id) => ({ id, name: ['Rome', null, 'Oslo'][id - 1] })) as never)
  await Team.bulkCreate(
    [1, 2, 3, 4].map((id) => ({ id, name: 'BABA'[id - 1], city_id: [1, 2, 3, null][id - 1] })) as never,
  )
  const shirts = Array.from({ length: 30 }, (_, index) => ({ season: index % 3, shirt: Math.floor(index / 3) }))
  await Player.bulkCreate(
    shirts.map((shirt) => ({
      ...shirt,
      name: ['x', 'y', null][next(3)],
      teamId: orNull(1 + next(4)),
      deletedAt: next(5) ? null : new Date(),
    })) as never,
  )
  await Post.bulkCreate(
    Array.from({ length: 40 }, (_, id) => ({
      id,
      score: orNull(next(5)),
      hidden: next(5) === 0,
      team_id: orNull(1 + next(4)),
    })) as never,
  )
  const covered = Array.from({ length: 40 }, (_, id) => id).filter(() => next(3) > 0)
  await Cover.bulkCreate(
    covered.map((postId, id) => ({
      id,
      postId,
      title: ['a', 'b', null][next(3)],
      city_id: orNull(1 + next(3)),
    })) as never,
  )
  await Comment.bulkCreate(Array.from({ length: 100 }, (_, id) => ({ id, post_id: next(40), stars: next(5) })) as never)
  await Tag.bulkCreate([1, 2, 3].map((id) => ({ id, label: `t${id}` })) as never)
  const links = new Set(Array.from({ length: 60 }, () => `${next(40)} ${1 + next(3)}`))
  await PostTag.bulkCreate(
    [...links].map((link) => ({ post_id: link.split(' ')[0], tag_id: link.split(' ')[1] })) as never,
  )
}

const length = typed(fn('length', col('team.name')), { type: DataType.INTEGER, nullable: true })

// Sequelize itself requires the alias in an order.
function withAliases(item: OrderItem): unknown {
  const names = new Map<unknown, string>([
    [Team, 'team'],
    [City, 'city'],
    [Cover, 'cover'],
  ])
  return Array.isArray(item) ? (item as unknown[]).map((part) => names.get(part) ?? part) : item
}

const statements: Readonly<Record<string, Options>> = {
  'a column of what it belongs to': {
    include: [Team],
    order: [
      [Team, 'name', 'DESC'],
      ['score', 'ASC'],
    ],
  },
  'the same by its alias': { include: [Team], order: [['team', 'name', 'ASC']] },
  'the same by col()': { include: [Team], order: [[col('team.name'), 'DESC']] },
  'the same as { model, as }': {
    include: [{ model: Team, as: 'team' }],
    order: [[{ model: Team, as: 'team' }, 'name', 'ASC']],
  },
  'the same by the association': {
    include: [Team],
    get order(): Order {
      return [[Post.associations['team'] as never, 'name', 'DESC'], 'score']
    },
  },
  'a required one': {
    include: [{ model: Team, required: true }],
    order: [
      ['team', 'name', 'ASC'],
      ['score', 'DESC'],
    ],
  },
  'one two steps away': {
    include: [{ model: Team, include: [City] }],
    order: [
      [Team, City, 'name', 'DESC'],
      ['score', 'ASC'],
    ],
  },
  'a column of what it has one of': {
    include: [Cover],
    order: [
      [Cover, 'title', 'DESC'],
      ['score', 'ASC'],
    ],
  },
  'the same, required': {
    include: [{ model: Cover, required: true }],
    order: [
      ['score', 'DESC'],
      ['cover', 'title', 'ASC'],
    ],
  },
  'a column of what it has one of, beside children': {
    include: [Cover, Comment],
    order: [[Cover, 'title', 'ASC']],
  },
  'what belongs to what it has one of': {
    include: [{ model: Cover, include: [City] }],
    order: [
      [Cover, City, 'name', 'DESC'],
      [Cover, 'title', 'ASC'],
    ],
  },
  'children beside it': { include: [Comment, Tag], order: [['score', 'DESC']] },
  'children, and a column of what it belongs to': {
    include: [{ model: Team, include: [City] }, Comment],
    order: [
      [Team, City, 'name', 'ASC'],
      [Team, 'name', 'DESC'],
    ],
  },
  'only with children': { include: [{ model: Comment, required: true }], order: [['score', 'ASC']] },
  'only with good children': {
    include: [{ model: Comment, where: { stars: { [Op.gt]: 2 } } }, Team],
    order: [
      [Team, 'name', 'ASC'],
      ['score', 'DESC'],
    ],
  },
  'only with a link': { include: [{ model: Tag, where: { id: [1, 2] } }], order: [['score', 'ASC']] },
  'a condition on children': {
    include: [Comment],
    where: { '$comments.stars$': 4 } as never,
    order: [['score', 'ASC']],
  },
  'children by a query of their own': {
    include: [{ model: Comment, separate: true, order: [['id', 'ASC']] }],
    order: [['score', 'DESC']],
  },
  'some attributes': { attributes: ['id'], order: [['score', 'DESC']] },
  'an alias': { attributes: ['id', ['score', 'points']], order: [['points', 'DESC']] as Order },
  'dollars and quotes': {
    where: { [Op.or]: [literal(`'US$5 $1 $$' = '$x'`), { score: { [Op.ne]: 1 } }] },
    order: [['score', 'ASC']],
  },
  'a declared expression': {
    include: [Team],
    order: [
      [length, 'DESC'],
      ['score', 'ASC'],
    ],
  },
  'the primary key in the middle': {
    order: [
      ['score', 'ASC'],
      ['id', 'DESC'],
      ['hidden', 'ASC'],
    ],
  },
  'a where that overrules the scope': { where: { hidden: true }, order: [['score', 'ASC']] },
}

const ofPlayers: readonly Order[] = [
  [['name', 'DESC']],
  [
    ['team', 'name', 'ASC'],
    ['name', 'ASC'],
  ],
  [['shirt', 'DESC']],
]

/** Statements that no cursor can page, and the message in the log. */
const refused: readonly (readonly [name: string, options: Options, explanation: RegExp])[] = [
  ['no order', {}, /explicit order.*Write one: paginate\(select\(Post, \{ order:/],
  ['an empty order', { order: [] }, /explicit order/],
  [
    'a column of children',
    { include: [Comment], order: [[Comment, 'stars', 'ASC']] },
    /comments has many rows for one of Post/,
  ],
  ['a raw literal', { order: [literal('score + 1')] }, /the type of this expression is unknown.*typed\(/],
  ['an undeclared function', { order: [[fn('abs', col('score')), 'ASC']] }, /the type of this expression is unknown/],
  ['a column that does not exist', { order: ['nope'] }, /Post has no column 'nope'/],
  ['an association that is not included', { order: [[Team, 'name', 'ASC']] }, /no include of the statement joins Team/],
  [
    'NULLS in the middle',
    { order: [['score', 'ASC NULLS MIDDLE']] },
    /cannot be ordered by .ASC NULLS MIDDLE.\. Write/,
  ],
  ['groups', { order: ['score'], group: ['score'] }, /paginate\(sql`SELECT/],
  ['a right join', { include: [{ model: Team, right: true }], order: ['score'] }, /Remove right/],
  ['a join by either', { include: [{ model: Team, or: true } as never], order: ['score'] }, /Remove or/],
  ['a limit of its own', { order: ['score'], limit: 3 }, /Remove limit/],
]

for (const kind of databases) {
  test(`cursor pages of any statement on ${kind.name}`, async (t) => {
    const app = await databaseApp(t, kind, models, [Lists])
    await fill()
    for (const [name, options] of Object.entries(statements))
      await t.test(`by ${name}: pages of every size are the whole list`, () => assertPosts(app, options, kind))
    await t.test('a composite key ends the order, and deleted rows stay hidden', async () => {
      for (const order of ofPlayers) await assertPlayers(app, order)
      players = { order: ['name'], paranoid: false }
      assert.equal((await walk(app.fetch, '/players', 7)).length, 30)
    })
    await t.test('a handler gets rows without the columns of the cursor', () => {
      const names = new Set(given.flatMap((player) => Object.keys(player as object)))
      assert.deepEqual([...names].sort(), ['deletedAt', 'name', 'season', 'shirt', 'team', 'teamId'])
    })
    for (const [name, options, explanation] of refused)
      await t.test(`${name} is refused with what to write instead`, () => assertRefused(app, options, explanation))
    await t.test('raw SQL is refused with what to write instead', async () => {
      assert.equal((await app.fetch('/text')).status, 500)
      assert.match(app.log.join('\n'), /paginate\(select\(Model, \{ order \}\)\)/)
    })
  })
}

/** Pages of one row are walked on the first database alone: they differ from others in their number. */
const sizesOn = (kind: TestDatabase, rows: number) => [...(kind === databases[0] ? [1, 7] : []), 3, rows, 100]

async function assertPosts({ fetch }: DatabaseApp, options: Options, kind: TestDatabase): Promise<void> {
  posts = options
  const sorted = (rows: readonly { id: number }[] | undefined) =>
    rows?.map(({ id }) => ({ id })).toSorted((a, b) => a.id - b.id)
  const order = [...(options.order as OrderItem[]).map(withAliases), ['id', 'ASC']] as Order
  const all = await Post.findAll({ ...options, order })
  assert.ok(all.length > 5)
  for (const limit of sizesOn(kind, all.length)) {
    const seen = await walk(fetch, '/posts', limit)
    assert.deepEqual(
      seen.map((post) => ({
        ...post,
        comments: sorted(post['comments'] as []),
        tags: sorted(post['tags'] as []),
      })),
      all.map(({ id, comments, tags }) => ({ id, comments: sorted(comments), tags: sorted(tags) })),
    )
  }
}

async function assertPlayers({ fetch }: DatabaseApp, order: Order): Promise<void> {
  players = { order, include: [Team] }
  const whole = [...(order as []), ['season', 'ASC'], ['shirt', 'ASC']] as Order
  const all = await Player.findAll({ order: whole, include: [Team], attributes: ['season', 'shirt'] })
  for (const limit of [1, 4, 100]) {
    const seen = await walk(fetch, '/players', limit)
    assert.deepEqual(
      seen,
      all.map(({ season, shirt }) => ({ season, shirt })),
    )
  }
}

async function assertRefused({ fetch, log }: DatabaseApp, options: Options, explanation: RegExp): Promise<void> {
  posts = options
  log.length = 0
  assert.equal((await fetch('/posts')).status, 500)
  assert.match(log.join('\n'), explanation)
  assert.equal(log.filter((line) => /^Executing.*SELECT .* FROM/.test(line)).length, 0)
}
