import { sql, steps } from 'sequitur/migrations'

export default steps('postgres', [
  sql`ALTER TABLE hero ADD COLUMN power VARCHAR(50)`,
  sql`ALTER TABLE hero ADD COLUMN slug VARCHAR(50)`,
  steps.alone(sql`CREATE INDEX CONCURRENTLY IF NOT EXISTS hero_power ON hero (power)`),
  steps.batches('hero', 'id', 1_000, sql`UPDATE hero SET power = 'none' WHERE power IS NULL`),
  steps.run(async (session) => {
    const heroes = await session.execute(sql<{ id: number; name: string }>`SELECT id, name FROM hero`)
    for (const { id, name } of heroes) {
      const slug = name.toLowerCase().replaceAll(' ', '-')
      await session.execute(sql`UPDATE hero SET slug = ${slug} WHERE id = ${id}`)
    }
  }),
])
