import { count, eq } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { integer, pgTable, varchar } from 'drizzle-orm/pg-core'
import { Pool } from 'pg'
import { type Database, pageMeta, POOL_SIZE } from './peer.js'

/*
 * The table and the transactions of the peers that use Drizzle.
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
      const [counted] = await transaction.select({ total: count() }).from(heroes)
      const rows = await transaction.select().from(heroes).orderBy(heroes.id).limit(limit).offset(offset)
      return { data: rows, meta: pageMeta(offset, limit, counted?.total ?? 0) }
    })
  }

  get(id: number) {
    return this.#database.transaction(async (transaction) => {
      const [hero] = await transaction.select().from(heroes).where(eq(heroes.id, id))
      return hero
    })
  }

  create({ name, secret_identity, age }: HeroInput) {
    return this.#database.transaction(async (transaction) => {
      const [hero] = await transaction.insert(heroes).values({ name, secret_identity, age }).returning()
      return hero
    })
  }
}

/** Whether an INSERT failed because the name exists. */
export function isDuplicate(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : undefined
  return cause instanceof Error && 'code' in cause && cause.code === '23505'
}
