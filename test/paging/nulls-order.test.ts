import assert from 'node:assert/strict'
import { test } from 'node:test'
import { col, fn, literal, type Order } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'
import { Base, Controller, Field, Get, Paginate as PaginateByOffset, Page as OffsetPage, select } from 'sequitur'
import { Page, Paginate, typed } from 'sequitur/cursor'
import type { TestApp } from 'sequitur/testing'
import { databaseApp, databases } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'
import { walk } from '../support/walk.js'

@Table({ tableName: 'team', timestamps: false })
class Team extends Base<Team> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING }) declare title: string | null
}

@Table({ tableName: 'player', timestamps: false })
class Player extends Base<Player> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER }) declare score: number | null
  @Column({ type: DataType.ENUM('small', 'big') }) declare size: string | null
  @Column({ type: DataType.DATEONLY }) declare born: string | null
  @Column({ type: DataType.INTEGER, allowNull: false }) declare rank: number
  @ForeignKey(() => Team)
  @Column({ type: DataType.INTEGER })
  declare team_id: number | null
  @BelongsTo(() => Team) declare team?: unknown
  @HasMany(() => Medal, 'player_id') declare medals?: unknown[]
}

@Table({ tableName: 'medal', timestamps: false })
class Medal extends Base<Medal> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER }) declare player_id: number
}

class Id {
  @Field({ type: 'integer' }) id!: number
}

let statement = select(Player)

@Controller('/')
class Players {
  @Get('/players', Page.of(Id)) list(paginate: Paginate<Id>) {
    return paginate(statement)
  }
  @Get('/numbered', OffsetPage.of(Id)) listNumbered(paginate: PaginateByOffset<Id>) {
    return paginate(statement)
  }
}

const ROWS = 30

async function fill(): Promise<void> {
  const next = random(11)
  const orNull = <T>(value: T): T | null => (next(3) === 0 ? null : value)
  await Team.bulkCreate([0, 1, 2].map((id) => ({ id, title: ['A', null, 'B'][id] })) as never)
  await Player.bulkCreate(
    Array.from({ length: ROWS }, (_, id) => ({
      id,
      score: orNull(next(4)),
      size: orNull(['small', 'big'][next(2)]),
      born: orNull(`2024-01-0${1 + next(3)}`),
      rank: next(3),
      team_id: orNull(next(3)),
    })) as never,
  )
  await Medal.bulkCreate([0, 1, 2].map((id) => ({ id, player_id: id % 2 })) as never)
}

/** All rows of a list that is paged by offset. */
async function numbered(fetch: TestApp['fetch'], limit: number): Promise<unknown[]> {
  const rows: unknown[] = []
  for (let offset = 0; offset < ROWS; offset += limit) {
    const response = await fetch(`/numbered?offset=${offset}&limit=${limit}`)
    assert.equal(response.status, 200)
    rows.push(...((await response.json()) as { data: unknown[] }).data)
  }
  return rows
}

/** What a list is ordered by, and its SQL. */
const columns = [
  { item: ['score'], sql: 'score' },
  { item: ['size'], sql: 'size' },
  { item: ['born'], sql: 'born' },
  { item: ['rank'], sql: '"rank"' },
  { item: ['team', 'title'], sql: 'team.title' },
  { item: [typed(fn('abs', col('score')), { type: DataType.INTEGER, nullable: true })], sql: 'abs(score)' },
] as const

for (const kind of databases) {
  test(`pages with NULLs first or last on ${kind.name}`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Team, Player, Medal], [Players])
    await fill()
    const quote = Player.sequelize?.getQueryInterface().quoteIdentifier('rank') ?? ''
    const next = random(5)
    for (let round = 0; round < runs(48); round++) {
      const chosen = columns.toSorted(() => next(3) - 1).slice(0, 1 + (round % 3))
      const sorted = chosen.map(({ item, sql }) => {
        const direction = ['ASC', 'DESC'][next(2)] as string
        const nulls = ['FIRST', 'LAST'][next(2)] as string
        const written = direction === 'ASC' && next(4) === 0 ? `NULLS ${nulls}` : `${direction} nulls ${nulls}`
        return { item: [...item, written], sql: sql.replace('"rank"', quote), direction, nulls }
      })
      const limit = [1, 2, 3, 7, ROWS, 100][next(6)] as number
      const include = [Team, ...(round % 4 === 0 ? [Medal] : [])]
      await t.test(
        `pages of ${limit} by ${sorted.map(({ item }) => String(item.slice(-2))).join()} are the whole list`,
        async () => {
          statement = select(Player, { include, order: sorted.map(({ item }) => item) as never })
          const order = sorted.flatMap(({ sql, direction, nulls }) => [
            literal(`CASE WHEN ${sql} IS NULL THEN 1 ELSE 0 END ${nulls === 'LAST' ? 'ASC' : 'DESC'}`),
            literal(`${sql} ${direction}`),
          ])
          const expected = await Player.findAll({ include: [Team], order: [...order, ['id', 'ASC']] as Order })
          assert.deepEqual(
            await walk(fetch, '/players', limit),
            expected.map(({ id }) => ({ id })),
          )
          assert.deepEqual(
            await numbered(fetch, limit),
            expected.map(({ id }) => ({ id })),
          )
        },
      )
    }
  })
}
