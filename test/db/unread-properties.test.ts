import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { col, type CreationOptional, type NonAttribute } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, HasOne, Table } from 'sequelize-typescript'
import { Base, Controller, dto, Field, Get, Item, Page, Paginate, Post, select, Session, sql } from 'sequitur'
import { CursorPage } from 'sequitur/cursor'
import { Rows, rows } from 'sequitur/exports'
import { databaseApp, databases, type TestDatabase } from '../support/databases.js'

/*
 * null says that there is no value. What a statement has not read is missing, also where the declaration allows null: a client that saves what it has read
 * would delete the value.
 */

@Table({ tableName: 'team', timestamps: false })
class Team extends Base<Team> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @HasOne(() => Player) declare captain: NonAttribute<Player | null>
}

@Table({ tableName: 'player', timestamps: false })
class Player extends Base<Player> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column(DataType.STRING) declare phone: CreationOptional<string | null>
  @Column(DataType.JSON) declare notes: CreationOptional<object | null>
  @ForeignKey(() => Team) @Column(DataType.INTEGER) declare team_id: CreationOptional<number | null>
  @BelongsTo(() => Team) declare team: NonAttribute<Team | null>
  @Column(DataType.VIRTUAL)
  get area(): string | null {
    return this.phone?.slice(0, 2) as string | null // undefined without a phone
  }
}

class TeamOut extends dto(Team, {}) {}
class PlayerOut extends dto(Player, { pick: ['id', 'phone', 'notes'] }) {}
class PlayerWithTeam extends dto(Player, { pick: ['id'] }) {
  @Field({ type: TeamOut, nullable: true }) team!: TeamOut | null
}
class TeamWithCaptain extends TeamOut {
  @Field({ type: PlayerOut, nullable: true }) captain!: PlayerOut | null
}
class Contact {
  @Field({ type: 'integer' }) id!: number
  @Field({ type: 'string', nullable: true }) phone!: string | null
}
class WithArea extends Contact {
  @Field({ type: 'string', nullable: true }) area!: string | null
}

const some = { attributes: ['id'] }
const found = async <T>(session: Session, statement: Parameters<Session['first']>[0]) =>
  ({ data: await session.first(statement) }) as { data: T }

@Controller('/players')
class PlayerController {
  @Get('/some', Item.of(PlayerOut)) some(session: Session) {
    return found<Player>(session, select(Player, some))
  }
  @Get('/json', Item.of(PlayerOut)) json(session: Session) {
    return found<Player>(session, select(Player, { attributes: ['id', 'phone'] }))
  }
  @Get('/excluded', Item.of(Player)) excluded(session: Session) {
    return found<Player>(session, select(Player, { attributes: { exclude: ['phone'] } }))
  }
  @Get('/page', Page.of(PlayerOut)) page(paginate: Paginate<PlayerOut>) {
    return paginate(select(Player, { ...some, order: ['id'] }))
  }
  @Get('/rows', Rows.of(Contact)) rows() {
    return rows(select(Player, some))
  }
  @Get('/sql', Rows.of(Contact)) sql() {
    return rows(sql<Contact>`SELECT id FROM player`)
  }
  @Get('/dto-rows', Rows.of(PlayerOut)) dtoRows() {
    return rows(select(Player, some))
  }
  @Get('/plain', Contact) plain() {
    return { id: 1 } as Contact
  }
  @Get('/undefined', Contact) undefined() {
    return { id: 1, phone: undefined } as unknown as Contact
  }
  @Get('/team', Item.of(PlayerWithTeam)) team(session: Session) {
    return found<PlayerWithTeam>(session, select(Player, { where: { phone: '0123' } }))
  }
  @Get('/captain', Item.of(TeamWithCaptain)) captain(session: Session) {
    return found<TeamWithCaptain>(session, select(Team))
  }
  @Get('/no-key', Item.of(PlayerWithTeam)) noKey(session: Session) {
    return found<PlayerWithTeam>(session, select(Player, some))
  }
  @Post('/made-with-team', Item.of(PlayerWithTeam)) async madeWithTeam() {
    return { data: await Player.create({ team_id: 1 }) }
  }
  // Offset pages have no next_cursor.
  @Get('/other-page', CursorPage.of(PlayerOut)) otherPage(paginate: Paginate<PlayerOut>) {
    return paginate(select(Player, { order: ['id'] })) as never
  }

  @Get('/whole', Item.of(PlayerOut)) whole(session: Session) {
    return found<Player>(session, select(Player, { where: { phone: null } }))
  }
  @Post('/', Item.of(PlayerOut)) async create() {
    return { data: await Player.create({}) }
  }
  @Post('/flushed', Item.of(Player)) async flushed(session: Session) {
    const player = session.add(Player.build({}))
    await session.flush()
    return { data: player }
  }
  @Post('/made-without-team', Item.of(PlayerWithTeam)) async madeWithoutTeam() {
    return { data: await Player.create({}) }
  }
  @Get('/without-team', Item.of(PlayerWithTeam)) withoutTeam(session: Session) {
    return found<PlayerWithTeam>(session, select(Player, { where: { phone: null } }))
  }
  @Get('/included', Item.of(PlayerWithTeam)) included(session: Session) {
    return found<PlayerWithTeam>(session, select(Player, { where: { phone: null }, include: [Team] }))
  }
  @Get('/area', Item.of(WithArea)) area(session: Session) {
    return found<WithArea>(session, select(Player, { where: { phone: null } }))
  }
  // What the database would have made of it.
  @Get('/echo', Item.of(PlayerOut)) echo() {
    return { data: { id: 1 } as PlayerOut }
  }
  @Get('/alias', Item.of(Contact)) alias(session: Session) {
    return found<Contact>(
      session,
      select(Player, { attributes: ['id', [col('team_id'), 'phone']], where: { phone: null } }),
    )
  }
}

async function start(t: TestContext, database: TestDatabase) {
  const app = await databaseApp(t, database, [Team, Player], [PlayerController])
  const { id } = await Team.create({})
  await Player.create({ phone: '0123', team_id: id })
  await Player.create({})
  return app
}

for (const database of databases) {
  test(`${database.name}: what was not read is not sent as null`, async (t) => {
    const { fetch, log } = await start(t, database)
    for (const [method, path, property] of [
      ['GET', 'some', 'data/phone'],
      ['GET', 'json', 'data/notes'],
      ['GET', 'excluded', 'data/phone'],
      ['GET', 'page', 'data/0/phone'],
      ['GET', 'rows', 'phone'],
      ['GET', 'sql', 'phone'],
      ['GET', 'dto-rows', 'phone'],
      ['GET', 'plain', 'phone'],
      ['GET', 'undefined', 'phone'],
      ['GET', 'team', 'data/team'],
      ['GET', 'captain', 'data/captain'],
      ['GET', 'no-key', 'data/team'],
      ['POST', 'made-with-team', 'data/team'],
      ['GET', 'other-page', 'meta/next_cursor'],
    ] as const) {
      log.length = 0
      assert.deepEqual([path, (await fetch(`/players/${path}`, { method })).status], [path, 500])
      assert.match(log.join('\n'), new RegExp(`/${property} is missing`))
    }
  })

  test(`${database.name}: what has no value is sent as null`, async (t) => {
    const { fetch } = await start(t, database)
    const read = async (method: string, path: string) => {
      const response = await fetch(`/players/${path}`, { method })
      return (await response.json()) as { data: Record<string, unknown> }
    }
    const whole = { id: 2, phone: null, notes: null }
    assert.deepEqual((await read('GET', 'whole')).data, whole)
    assert.deepEqual((await read('GET', 'without-team')).data, { id: 2, team: null })
    assert.deepEqual((await read('GET', 'included')).data, { id: 2, team: null })
    assert.deepEqual((await read('GET', 'area')).data, { id: 2, phone: null, area: null })
    assert.deepEqual((await read('GET', 'alias')).data, { id: 2, phone: null })
    assert.deepEqual((await read('GET', 'echo')).data, { id: 1, phone: null, notes: null })
    assert.deepEqual((await read('POST', '')).data, { ...whole, id: 3 })
    const { phone, team_id } = (await read('POST', 'flushed')).data
    assert.deepEqual([phone, team_id], [null, null])
    assert.deepEqual((await read('POST', 'made-without-team')).data, { id: 5, team: null })
  })
}
