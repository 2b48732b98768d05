import { count, eq, sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { integer, pgTable, varchar } from 'drizzle-orm/pg-core'
import { Pool } from 'pg'
import { type Database, pageMeta, POOL_SIZE } from './peer.js'

/*
 * The table and the transactions of the peers that use Drizzle, with prepared statements: see https://orm.drizzle.team/docs/perf-queries.
 * A statement that is prepared once belongs to the pool and cannot run in a transaction, so that each transaction names its own.
 */

export interface HeroInput {
  readonly name: string
  readonly secret_identity: string
  readonly age: number
}

const heroes = pgTable('hero', {
  name: varchar({ length: 255 }).notNull().unique(),
  secret_identity: varchar({ length: 255 }).notNull(),
  age: integer().notNull(),
  id: integer().primaryKey().generatedByDefaultAsIdentity(),
})

export type Transactions = Pick<NodePgDatabase, 'transaction'>

/** With the driver of Node. */
export function openHeroes({ url }: Database): Heroes {
  return new Heroes(drizzle(new Pool({ connectionString: url, max: POOL_SIZE })))
}

/** Each method is one transaction. */
export class Heroes {
  readonly #database: Transactions

  constructor(database: Transactions) {
    this.#database = database
  }

  list(offset: number, limit: number) {
    return this.#database.transaction(async (transaction) => {
      const counting = transaction.select({ total: count() }).from(heroes).prepare('count')
      const [counted] = await counting.execute()
      const page = transaction.select().from(heroes).orderBy(heroes.id).limit(value('limit')).offset(value('offset'))
      const rows = await page.prepare('list').execute({ limit, offset })
      return { data: rows, meta: pageMeta(offset, limit, counted?.total ?? 0) }
    })
  }

  get(id: number) {
    return this.#database.transaction(async (transaction) => {
      const query = transaction
        .select()
        .from(heroes)
        .where(eq(heroes.id, value('id')))
      const [hero] = await query.prepare('get').execute({ id })
      return hero
    })
  }

  create({ name, secret_identity, age }: HeroInput) {
    return this.#database.transaction(async (transaction) => {
      const values = { name: value('name'), secret_identity: value('secret_identity'), age: value('age') }
      const query = transaction.insert(heroes).values(values).returning()
      const [hero] = await query.prepare('create').execute({ name, secret_identity, age })
      return hero
    })
  }
}

const value = (name: string) => sql.placeholder(name)

/** Whether an INSERT failed because the name exists. */
export function isDuplicate(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : undefined
  return cause instanceof Error && 'code' in cause && cause.code === '23505'
}
