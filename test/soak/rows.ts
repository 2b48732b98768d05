import { newLifespan, type Session, sql, withSession } from 'sequitur'

export interface Rows {
  readonly names: ReadonlySet<string>
  readonly counters: ReadonlyMap<number, number>
}

/** All rows, read on a connection of its own, by raw SQL. */
export function readRows(url: string): Promise<Rows> {
  return withSession(newLifespan(url), async (session: Session) => {
    const entries = await session.execute<{ name: string }>(sql`SELECT name FROM entry`)
    const counters = await session.execute<{ id: number; count: number }>(sql`SELECT id, count FROM counter`)
    return {
      names: new Set(entries.map(({ name }) => name)),
      counters: new Map(counters.map(({ id, count }) => [id, count])),
    }
  })
}
