import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional, NonAttribute } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, Index, Table } from 'sequelize-typescript'
import {
  Base,
  Body,
  Controller,
  createApp,
  dto,
  Field,
  Get,
  Item,
  notFound,
  Patch,
  Post,
  Put,
  Session,
  withSession,
} from 'sequitur'
import { memoryDatabase, testApp } from 'sequitur/testing'

@Table({ tableName: 'team', timestamps: false })
class Team extends Base<Team> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, unique: true }) declare name: string
  @Column(DataType.STRING) declare motto: string | null
}

@Table({ tableName: 'desk', timestamps: false, indexes: [{ unique: true, fields: ['room', 'place_no'] }] })
class Desk extends Base<Desk> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column(DataType.STRING) declare room: string
  @Column({ type: DataType.STRING, field: 'place_no' }) declare place: string
}

@Table({ tableName: 'member', timestamps: false })
class Member extends Base<Member> {
  @Column({ type: DataType.STRING, primaryKey: true }) declare code: string
  @Index({ name: 'badges', unique: true }) @Column(DataType.STRING) declare badge: string
  @ForeignKey(() => Team) @Column(DataType.INTEGER) declare team_id: number
  @BelongsTo(() => Team) declare team: NonAttribute<Team>
}

class NewTeam extends dto(Team, { omit: ['id'] }) {}
class WholeTeam extends dto(Team, { omit: [] }) {}
class Motto extends dto(Team, { pick: ['motto'], partial: true }) {}
class Code extends dto(Member, { pick: ['code'] }) {}
class Badge extends dto(Member, { pick: ['badge'] }) {}
class NewDesk extends dto(Desk, { pick: ['place'] }) {}
class Membership extends dto(Member, { pick: ['team_id'] }) {}

class Name {
  @Field() name!: string
}
class Words {
  @Field() words!: string
}
class Teams {
  @Field({ type: [NewTeam] }) teams!: NewTeam[]
}

const other = { code: 'starfire', badge: '2', team_id: 1 }

@Controller()
class Writing {
  @Get('/teams/:id', Team) async get(id: number, session: Session) {
    return (await session.get(Team, id)) ?? notFound()
  }
  @Post('/teams', Item.of(Team)) async create(input: NewTeam, session: Session) {
    const team = session.add(Team.build(input))
    await session.flush()
    return { data: team }
  }
  @Post('/teams/whole') whole(team: WholeTeam) {
    return add(Team.build(team))
  }
  @Put('/teams') several(@Body({ type: [NewTeam] }) teams: NewTeam[]) {
    return addAll(teams)
  }
  @Post('/teams/within') within({ teams }: Teams) {
    return addAll(teams)
  }
  @Post('/teams/by-name', Team) async byName({ name }: Name, session: Session) {
    const team = session.add(Team.build({ name, motto: null }))
    await session.flush()
    return team
  }
  @Patch('/teams/:id', Item.of(Team)) async change(id: number, { motto }: Motto, session: Session) {
    const team = (await session.get(Team, id)) ?? notFound()
    return { data: await team.update({ motto: motto ?? null }) }
  }
  @Post('/teams/named', [Team]) async named({ name }: Name) {
    return Team.findAll({ where: { name } })
  }
  @Put('/teams/:id/motto', Team) async say(id: number, { words }: Words, session: Session) {
    return ((await session.get(Team, id)) ?? notFound()).update({ motto: words })
  }
  @Post('/members/code') code({ code }: Code) {
    return add(Member.build({ ...other, code }))
  }
  @Post('/members/badge') badge({ badge }: Badge) {
    return add(Member.build({ ...other, badge }))
  }
  @Post('/desks') desk({ place }: NewDesk) {
    return add(Desk.build({ room: 'a', place }))
  }
  @Post('/members/team') team({ team_id }: Membership) {
    return add(Member.build({ ...other, team_id }))
  }
}

async function add(row: Base): Promise<void> {
  await row.save()
}

async function addAll(teams: readonly NewTeam[]): Promise<void> {
  for (const team of teams) await add(Team.build(team as never))
}

const taken = { name: 'Titans', motto: null }

/** What each operation is sent, and whether other records conflict with it. */
const requests: readonly (readonly [operation: string, body: object | undefined, conflicts: boolean])[] = [
  ['GET /teams/{id}', undefined, false],
  ['POST /teams', taken, true],
  ['POST /teams/whole', { id: 1, name: 'Other', motto: null }, true],
  ['PUT /teams', [taken], true],
  ['POST /teams/within', { teams: [taken] }, true],
  ['POST /teams/by-name', { name: 'Titans' }, true],
  ['PATCH /teams/{id}', { motto: 'Go' }, false],
  ['POST /teams/named', { name: 'Titans' }, false],
  ['PUT /teams/{id}/motto', { words: 'Go' }, false],
  ['POST /members/code', { code: 'robin' }, true],
  ['POST /members/badge', { badge: '1' }, true],
  ['POST /desks', { place: 'left' }, true],
  ['POST /members/team', { team_id: 99 }, true],
]

for (const [operation, json, conflicts] of requests) {
  test(`${operation} answers 409, and is documented with it: ${conflicts}`, async (t) => {
    const api = await testApp({ controllers: [Writing], models: [Team, Member, Desk], lifespan: memoryDatabase() })
    t.after(api.close)
    await withSession(async () => {
      await add(Team.build(taken))
      await add(Member.build({ code: 'robin', badge: '1', team_id: 1 }))
      await add(Desk.build({ room: 'a', place: 'left' }))
    })
    const [method = '', path = ''] = operation.split(' ')
    const { status } = await api.fetch(path.replace('{id}', '1'), { method, ...(json ? { json } : {}) })
    const item = api.app.openapi().paths?.[path] as Record<string, { responses: object }>
    const documented = Object.keys(item[method.toLowerCase()]?.responses ?? {})
    assert.deepEqual([status === 409, documented.includes('409')], [conflicts, conflicts], `${status}, ${documented}`)
    assert.ok(conflicts || status < 300)
  })
}

test("a route's own words for 409 are kept", () => {
  @Controller()
  class Own {
    @Post('/', { errors: { 409: 'There is such a team' } }) create(team: NewTeam) {
      void team
    }
  }
  const { paths } = createApp({ controllers: [Own], logger: false }).openapi()
  const response = paths?.['/']?.post?.responses?.['409'] as { description?: string } | undefined
  assert.equal(response?.description, 'There is such a team')
})

test('what is wrong with a model that only the conflicts of a route depend on stops createApp()', () => {
  @Table({ tableName: 'slow', timestamps: false })
  class Slow extends Base<Slow> {
    @Column({ type: DataType.STRING, primaryKey: true, validate: { is: /^(a+)+$/ } }) declare code: string
  }
  @Controller('/words')
  class WordController {
    @Post('/') add(words: Words) {
      return { words }
    }
  }
  const options = { controllers: [WordController], lifespan: memoryDatabase(), models: [Slow], logger: false } as const
  assert.throws(() => createApp(options), /^BootError: WordController\.add, its response: Slow\.code: the rule is/)
})
