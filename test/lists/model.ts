import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'
import { Base, dto } from 'sequitur'
import { listOf } from 'sequitur/lists'
import { random } from '../support/fuzz.js'

/*
 * A list with columns of all kinds, and the same rows in memory.
 */

@Table({ tableName: 'country', timestamps: false })
export class Country extends Base<Country> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}

@Table({ tableName: 'team', timestamps: false })
export class Team extends Base<Team> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING, field: 'home_city' }) declare city: string | null
  @ForeignKey(() => Country)
  @Column({ type: DataType.INTEGER })
  declare country_id: number | null
  @BelongsTo(() => Country) declare country?: Country
}

@Table({ tableName: 'hero', timestamps: false })
export class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING(60), allowNull: false, field: 'hero_name' }) declare name: string
  @Column({ type: DataType.TEXT }) declare motto: string | null
  @Column({ type: DataType.INTEGER, allowNull: false }) declare age: number
  @Column({ type: DataType.INTEGER }) declare score: number | null
  @Column({ type: DataType.BIGINT }) declare steps: string | null
  @Column({ type: DataType.DECIMAL(8, 2) }) declare fee: string | null
  @Column({ type: DataType.DOUBLE, allowNull: false }) declare weight: number
  @Column({ type: DataType.BOOLEAN }) declare active: boolean | null
  @Column({ type: DataType.ENUM('small', 'big') }) declare size: string | null
  @Column({ type: DataType.DATEONLY }) declare born: string | null
  @Column({ type: DataType.DATE, allowNull: false }) declare seen: Date
  @Column({ type: DataType.UUID, allowNull: false }) declare badge: string
  @Column({ type: DataType.CHAR(4) }) declare code: string | null
  @Column({ type: DataType.TIME }) declare wakes: string | null
  @Column({ type: DataType.STRING, allowNull: false }) declare secret: string
  @ForeignKey(() => Team)
  @Column({ type: DataType.INTEGER })
  declare team_id: number | null
  @BelongsTo(() => Team) declare team?: Team
  @HasMany(() => Power, 'hero_id') declare powers?: Power[]
}

@Table({ tableName: 'power', timestamps: false })
export class Power extends Base<Power> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare hero_id: number
}

export const models = [Country, Team, Hero, Power]

export class TeamOut extends dto(Team, { pick: ['id', 'city', 'country'] }) {}
export class HeroOut extends dto(Hero, { omit: ['secret', 'team_id'] }) {}
export class HeroRow extends dto(Hero, { pick: ['id', 'name', 'age', 'team', 'powers'], partial: true }) {}

const ordered = ['eq', 'ne', 'in', 'lt', 'lte', 'gt', 'gte'] as const
const text = ['eq', 'ne', 'in', 'contains', 'startsWith'] as const

export const sorts = ['id', 'name', 'age', 'score', 'steps', 'fee', 'size', 'born', 'seen', 'team.city'] as const

export class HeroList extends listOf(Hero, {
  filter: {
    id: ordered,
    name: text,
    motto: [...text, 'null'],
    age: ordered,
    score: [...ordered, 'null'],
    steps: [...ordered, 'null'],
    fee: [...ordered, 'null'],
    weight: ['lt', 'gte'],
    active: ['eq', 'ne', 'null'],
    size: ['eq', 'ne', 'in', 'null'],
    born: [...ordered, 'null'],
    seen: ordered,
    badge: ['eq', 'ne', 'in'],
    code: ['eq', 'ne', 'in', 'null'],
    wakes: [...ordered, 'null'],
    'team.city': [...text, 'null'],
    'team.country.name': ['eq', 'contains', 'null'],
  },
  sort: sorts.filter((path) => path !== 'size'),
  include: ['team', 'team.country', 'powers'],
  maxSort: 4,
}) {}

/** A row as the filters and orders see it, by their paths. */
export type MemoryRow = Readonly<Record<string, string | number | bigint | boolean | null>>

const NAMES = [
  'robin',
  'Robin',
  'ROBIN',
  'rob%n',
  'rob_n',
  'rob\\in',
  "o'neil",
  'röbin',
  'robin!',
  '$1',
  '🦇 bat',
  'a,b',
  'x',
]
const MOTTOS = [null, '', 'Up', 'up, up', 'UP%', 'dn\\', '"', 'İstanbul', 'ß']

const ROWS = 60

/** Fills the tables. @returns the same rows in memory, in the order of their key. */
export async function fill(): Promise<readonly MemoryRow[]> {
  const next = random(7)
  const pick = <T>(list: readonly T[]): T => list[next(list.length)] as T
  const cities = [null, 'oslo', 'Oslo', 'bern', 'aachen']
  await Country.bulkCreate([
    { id: 1, name: 'norway' },
    { id: 2, name: 'Norway' },
  ])
  await Team.bulkCreate(cities.map((city, id) => ({ id, city, country_id: [null, 1, 2][id % 3] as number | null })))
  const heroes = Array.from({ length: ROWS }, (_, id) => ({
    id,
    name: pick(NAMES),
    motto: pick(MOTTOS),
    age: next(9),
    score: pick([null, -3, 0, 1, 2, 2147483647]),
    steps: pick([null, '0', '-5', '9007199254740993', '9007199254740992']),
    fee: pick([null, '0.50', '12.25', '-1.00', '100000.00']),
    weight: pick([0, 1.5, -2.25, 80]),
    active: pick([null, true, false]),
    size: pick([null, 'small', 'big']),
    born: pick([null, '1999-12-31', '2000-01-01', '2024-02-29']),
    seen: new Date(Date.UTC(2024, 0, 1 + next(4), 12)),
    badge: `00000000-0000-4000-8000-00000000000${next(8)}`,
    code: pick([null, 'ab', 'ab  ', 'ab!', 'a', '']),
    wakes: pick([null, '00:00:00', '06:30:00', '23:59:59']),
    secret: `secret ${id}`,
    team_id: pick([null, 0, 1, 2, 3, 4]),
  }))
  await Hero.bulkCreate(heroes as never)
  await Power.bulkCreate(Array.from({ length: ROWS }, (_, id) => ({ id, hero_id: id - (id % 3) })))
  return heroes.map(({ steps, fee, seen, code, team_id, ...hero }) => {
    const country = team_id === null ? null : [null, 'norway', 'Norway'][team_id % 3]
    return {
      ...hero,
      steps: steps === null ? null : BigInt(steps),
      fee: fee === null ? null : Number(fee),
      seen: seen.toISOString(),
      code: code?.trimEnd() ?? null,
      'team.city': team_id === null ? null : (cities[team_id] ?? null),
      'team.country.name': country ?? null,
    }
  })
}
