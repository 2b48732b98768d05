import assert from 'node:assert/strict'
import { test } from 'node:test'
import { col, type FindOptions, literal, Op, where } from 'sequelize'
import { BelongsToMany, Column, DataType, ForeignKey, HasMany, Scopes, Table } from 'sequelize-typescript'
import { Base, Controller, Field, Get, Page, Paginate, select, Session } from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { databaseApp, databases } from '../support/databases.js'
import { walk } from '../support/walk.js'

@Scopes(() => ({ edges: { where: literal('rank = 0 OR rank = 2') as never } }))
@Table({ tableName: 'team', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class Team extends Base<Team> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare rank: number
  @Column({ type: DataType.DATE }) declare deletedAt: Date | null
  @HasMany(() => Hero, 'team_id') declare heroes?: Hero[]
  @BelongsToMany(() => Tag, () => TeamTag) declare tags?: Tag[]
}

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare stars: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare team_id: number
}

@Table({ tableName: 'tag', timestamps: false })
class Tag extends Base<Tag> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare color: number
}

@Table({ tableName: 'team_tag', timestamps: false })
class TeamTag extends Base<TeamTag> {
  @ForeignKey(() => Team) @Column({ type: DataType.INTEGER, primaryKey: true }) declare team_id: number
  @ForeignKey(() => Tag) @Column({ type: DataType.INTEGER, primaryKey: true }) declare tag_id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare weight: number
}

const teams = Array.from({ length: 6 }, (_, id) => ({ id, rank: id % 3, deletedAt: id === 4 ? new Date() : null }))
const heroes = Array.from({ length: 15 }, (_, id) => ({ id, stars: id % 4, team_id: (id * 2) % 5 }))
const tags = Array.from({ length: 4 }, (_, id) => ({ id, color: id }))
const links = teams.flatMap(({ id }) =>
  tags.flatMap((tag) => ((id + tag.id) % 2 ? [{ team_id: id, tag_id: tag.id, weight: (id + tag.id) % 5 }] : [])),
)

/** A row as JSON: its own keys are those that the conditions leave. */
interface TeamRow {
  readonly id: number
  readonly heroes?: readonly { readonly id: number }[]
  readonly tags?: readonly { readonly id: number }[]
}

interface Case {
  readonly options: FindOptions
  readonly expected: readonly TeamRow[]
}

const alive = teams.filter(({ deletedAt }) => deletedAt === null)
const heroesOf = ({ id }: TeamRow, stars: readonly number[]) =>
  heroes.filter((hero) => hero.team_id === id && stars.includes(hero.stars)).map((hero) => ({ id: hero.id }))
const tagsOf = ({ id }: TeamRow, isTagged: (link: (typeof links)[number]) => boolean) =>
  links.filter((link) => link.team_id === id && isTagged(link)).map((link) => ({ id: link.tag_id }))
const withHeroes = (rows: typeof teams) => rows.map((team) => ({ id: team.id, heroes: heroesOf(team, [1, 2]) }))

const ofHeroes = literal('heroes.stars = 1 OR heroes.stars = 2')
const cases: Readonly<Record<string, Case>> = {
  'a hasMany': {
    options: { include: [{ model: Hero, where: ofHeroes as never, required: false }] },
    expected: withHeroes(alive),
  },
  'a required hasMany': {
    options: { include: [{ model: Hero, where: ofHeroes as never }] },
    expected: withHeroes(alive).filter((team) => team.heroes.length > 0),
  },
  'a hasMany with a condition of its join': {
    options: {
      include: [
        {
          model: Hero,
          required: false,
          on: {
            [Op.and]: [
              where(col('heroes.team_id'), col('Team.id') as never),
              literal('heroes.stars = 2 OR heroes.stars = 3'),
            ],
          },
          where: ofHeroes as never,
        },
      ],
    },
    expected: alive.map((team) => ({ id: team.id, heroes: heroesOf(team, [2]) })),
  },
  'a separate hasMany': {
    options: { include: [{ model: Hero, where: literal('stars = 1 OR stars = 2') as never, separate: true }] },
    expected: withHeroes(alive),
  },
  'a belongsToMany': {
    options: {
      include: [{ model: Tag, where: literal('tags.color = 0 OR tags.color = 3') as never, required: false }],
    },
    expected: alive.map((team) => ({ id: team.id, tags: tagsOf(team, (link) => [0, 3].includes(link.tag_id)) })),
  },
  'the table between of a belongsToMany': {
    options: {
      include: [{ model: Tag, required: false, through: { where: literal('weight = 1 OR weight = 3') as never } }],
    },
    expected: alive.map((team) => ({ id: team.id, tags: tagsOf(team, (link) => [1, 3].includes(link.weight)) })),
  },
  'rows that are not deleted': {
    options: { where: literal('rank = 1 OR rank = 2') as never },
    expected: alive.filter(({ rank }) => rank > 0).map(({ id }) => ({ id })),
  },
  'literals in Op.and': {
    options: {
      where: { [Op.and]: [literal('rank = 0 OR rank = 2'), where(col('Team.id'), Op.gt as never, 1 as never)] },
    },
    expected: alive.filter(({ id, rank }) => rank !== 1 && id > 1).map(({ id }) => ({ id })),
  },
  'one literal of Op.and': {
    options: { where: { [Op.and]: literal('rank = 0 OR rank = 2'), id: { [Op.gt]: 1 } } as never },
    expected: alive.filter(({ id, rank }) => rank !== 1 && id > 1).map(({ id }) => ({ id })),
  },
  'one literal of Op.and of a hasMany': {
    options: {
      include: [{ model: Hero, required: false, where: { [Op.and]: ofHeroes, stars: { [Op.ne]: 1 } } as never }],
    },
    expected: alive.map((team) => ({ id: team.id, heroes: heroesOf(team, [2]) })),
  },
  'a literal of an attribute': {
    options: { where: { rank: literal('rank = 0 OR rank = 2'), id: { [Op.gt]: 1 } } as never },
    expected: alive.filter(({ id, rank }) => rank !== 1 && id > 1).map(({ id }) => ({ id })),
  },
  'a literal of Op.or that ends in a comment': {
    options: { where: { [Op.or]: [literal('rank = 0 -- or 1'), literal('rank = 2 -- or 1')] } as never },
    expected: alive.filter(({ rank }) => rank !== 1).map(({ id }) => ({ id })),
  },
  'a literal of Op.not': {
    options: { where: { [Op.not]: literal('rank = 0 OR rank = 2'), id: { [Op.gt]: 1 } } as never },
    expected: alive.filter(({ id, rank }) => rank === 1 && id > 1).map(({ id }) => ({ id })),
  },
  'where() of Op.not': {
    options: { where: { [Op.not]: where(col('rank'), 1 as never) } as never },
    expected: alive.filter(({ rank }) => rank !== 1).map(({ id }) => ({ id })),
  },
}

let statement = select(Team)

class Numbered {
  @Field({ type: 'integer' }) id!: number
}
class TeamModel extends Numbered {
  @Field({ type: [Numbered], optional: true }) heroes?: Numbered[]
  @Field({ type: [Numbered], optional: true }) tags?: Numbered[]
}

@Controller('/')
class Lists {
  constructor(private readonly session: Session) {}
  @Get('/all', [TeamModel]) all() {
    return this.session.all(statement)
  }
  @Get('/count', 'integer') count() {
    return this.session.count(statement)
  }
  @Get('/offset', Page.of(TeamModel)) offset(paginate: Paginate<TeamModel>) {
    return paginate(statement)
  }
  @Get('/cursor', CursorPage.of(TeamModel)) cursor(paginate: CursorPaginate<TeamModel>) {
    return paginate(statement)
  }
  @Get('/heroes', [Numbered]) async heroes() {
    const team = await this.session.get(Team, 0)
    return (await team?.$get('heroes', { where: literal('stars = 1 OR stars = 2') as never })) ?? []
  }
  @Get('/heroes-of-and', [Numbered]) async heroesOfAnd() {
    const team = await this.session.get(Team, 0)
    return (await team?.$get('heroes', { where: { [Op.and]: literal('stars = 1 OR stars = 2') } as never })) ?? []
  }
}

const byId = (left: { readonly id: number }, right: { readonly id: number }) => left.id - right.id
const sorted = (rows: readonly TeamRow[]) =>
  rows
    .map(({ id, heroes, tags }) => ({
      id,
      ...(heroes && { heroes: heroes.toSorted(byId) }),
      ...(tags && { tags: tags.toSorted(byId) }),
    }))
    .toSorted(byId)

for (const kind of databases)
  test(`a literal with OR beside other conditions on ${kind.name}`, async (t) => {
    const app = await databaseApp(t, kind, [Team, Hero, Tag, TeamTag], [Lists])
    await Team.bulkCreate(teams as never)
    await Hero.bulkCreate(heroes as never)
    await Tag.bulkCreate(tags as never)
    await TeamTag.bulkCreate(links as never)
    const read = async (path: string): Promise<unknown> => {
      const response = await app.fetch(path)
      assert.equal(response.status, 200, app.log.slice(-3).join('\n'))
      return response.json()
    }
    for (const [name, { options, expected }] of Object.entries(cases))
      await t.test(`${name}: every read finds the same rows`, async () => {
        statement = select(Team, { ...options, order: ['id'] })
        assert.deepEqual(sorted((await read('/all')) as TeamRow[]), expected)
        assert.equal(await read('/count'), expected.length)
        const { data } = (await read('/offset?limit=100')) as { data: TeamRow[] }
        assert.deepEqual(sorted(data), expected)
        for (const limit of [1, 2, 100])
          assert.deepEqual(sorted((await walk(app.fetch, '/cursor', limit)) as never), expected)
      })
    await t.test('a scope of a literal beside a condition finds the rows of both', async () => {
      const rows = await Team.scope('edges').findAll({ where: { id: { [Op.gt]: 1 } }, order: ['id'] })
      assert.deepEqual(
        rows.map(({ id }) => id),
        alive.filter(({ id, rank }) => rank !== 1 && id > 1).map(({ id }) => id),
      )
    })
    for (const path of ['/heroes', '/heroes-of-and'])
      await t.test(`${path}: the getter of an association finds its own rows`, async () => {
        assert.deepEqual(await read(path), heroesOf({ id: 0 }, [1, 2]))
      })
    await t.test('an update and a deletion change only rows of both conditions', async () => {
      const either = (stars: string) => ({ [Op.and]: literal(stars), team_id: 2 }) as never
      const changed = heroes.filter(({ stars, team_id }) => (stars === 0 || stars === 3) && team_id === 2).length
      assert.deepEqual(await Hero.update({ stars: 7 }, { where: either('stars = 0 OR stars = 3') }), [changed])
      assert.equal(await Hero.destroy({ where: either('stars = 7 OR stars = 1 AND team_id = 3') }), changed)
      assert.equal(await Hero.count(), heroes.length - changed)
    })
  })
