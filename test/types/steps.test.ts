import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, withSession } from 'sequitur'
import { type AsJson, Attempt, Job, JobRecord, jobsOf } from 'sequitur/jobs'
import { databaseApp, sqliteMemory } from '../support/databases.js'

/*
 * Read by the compiler: the result of a step has the type of what JSON makes of it. The tests that run show that JSON makes that of it.
 */

type IsSame<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2
    ? []
    : [{ readonly found: A; readonly expected: B }]

/** Compiles if the types are the same. */
function same<A, B>(...difference: IsSame<A, B>): void {
  void difference
}

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @Column({ type: DataType.DATE }) declare born: Date | null
}

class Money {
  constructor(readonly cents: number) {}
  plus({ cents }: Money): Money {
    return new Money(this.cents + cents)
  }
  toJSON() {
    return { cents: this.cents, at: new Date(0) }
  }
}

const hidden: unique symbol = Symbol('hidden')

function values(note?: string) {
  return {
    text: 'a',
    date: new Date(0),
    dates: [new Date(0), undefined],
    pair: [new Date(0), () => 1] as const,
    money: new Money(5),
    costs: { tea: new Money(1) } as Record<string, Money>,
    bytes: Buffer.from('a'),
    hero: Hero.build({ id: 1, name: 'Robin', born: new Date(0) }),
    nothing: null,
    note,
    absent: undefined,
    print: () => 'a',
    symbol: Symbol('a'),
    [hidden]: 1,
  }
}

interface Written {
  text: string
  date: string
  dates: (string | null)[]
  pair: readonly [string, null]
  money: { cents: number; at: string }
  costs: Record<string, { cents: number; at: string }>
  bytes: { type: 'Buffer'; data: number[] }
  hero: AsJson<Hero>
  nothing: null
  note?: string
}

const epoch = '1970-01-01T00:00:00.000Z'
const written: Written = {
  text: 'a',
  date: epoch,
  dates: [epoch, null],
  pair: [epoch, null],
  money: { cents: 5, at: epoch },
  costs: { tea: { cents: 1, at: epoch } },
  bytes: { type: 'Buffer', data: [97] },
  hero: { id: 1, name: 'Robin', born: epoch },
  nothing: null,
}
same<AsJson<ReturnType<typeof values>>, Written>()
same<AsJson<Hero>['born'], string | null>()

type UserId = string & { readonly brand: 'UserId' }
same<AsJson<UserId>, UserId>()
same<AsJson<'a' | 5 | true | null>, 'a' | 5 | true | null>()
same<AsJson<void>, null>()
same<AsJson<Date | undefined>, string | null>()
same<AsJson<bigint>, never>()
same<AsJson<unknown>, unknown>()
// oxlint-disable-next-line typescript/no-explicit-any -- it is that of JSON.parse()
same<AsJson<{ any: any; unknown: unknown }>, { any: any; unknown: unknown }>()
same<AsJson<{ a?: Date; b?: () => void; c: string | (() => void) }>, { a?: string; c?: string }>()
same<AsJson<readonly Date[]>, string[]>()

interface Tree {
  readonly at: Date
  readonly children: readonly Tree[]
}
interface WrittenTree {
  readonly at: string
  readonly children: readonly WrittenTree[]
}
type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }
type Chain = readonly [Date, Chain | null]
class Itself {
  readonly at = new Date(0)
  toJSON(): this {
    return this
  }
}

class StepJobs {
  @Job({ name: 'step.write', attempts: 1 })
  async write(attempt: Attempt) {
    assert.deepEqual(await attempt.step('values', async () => values()), written)
    assert.deepEqual(await attempt.step('note', async () => values('a').note), 'a')
    assert.deepEqual(await attempt.step('nothing', async () => {}), null)
    assert.deepEqual(await attempt.step('function', async () => () => 'a'), null)
    assert.deepEqual(await attempt.step('itself', async () => new Itself()), { at: epoch })
    await assert.rejects(
      attempt.step('bigint', async () => ({ id: 5n })),
      /^TypeError: attempt\.step\('bigint'\): its result cannot be written as JSON/,
    )
  }

  /** Read by the compiler: recursive types have an end. */
  async recursive(attempt: Attempt, tree: Tree, json: Json, chain: Chain) {
    const writtenTree: WrittenTree = await attempt.step('tree', async () => tree)
    const writtenJson: Json = await attempt.step('json', async () => json)
    const [first, next] = await attempt.step('chain', async () => chain)
    const texts: readonly (string | undefined)[] = [first, next?.[0], next?.[1]?.[0]]
    return [writtenTree, writtenJson, texts]
  }
}

test('the result of a step is what its type says', async (t) => {
  const app = await databaseApp(t, sqliteMemory, [Hero, JobRecord], [], { jobs: [StepJobs] })
  await withSession(app.database, (session) => jobsOf(session).add(StepJobs, 'write'))
  const { done, dead } = await app.jobs.run()
  assert.deepEqual([dead, done.map(({ name }) => name)], [[], ['step.write']])
})
