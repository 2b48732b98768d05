import type { Context } from './dimension.js'

const AGES = 97

/** Removes the table of the program `heroes`, which creates it when it starts. */
export async function forgetHeroes(context: Context): Promise<void> {
  await context.execute('DROP TABLE IF EXISTS hero')
}

/** Adds the rows with these numbers to the table of the program `heroes`. */
export async function addHeroes(context: Context, first: number, last: number): Promise<void> {
  await context.execute(
    `INSERT INTO hero (id, age, name) SELECT n, (n * 31::bigint) % ${AGES}, 'hero ' || n FROM generate_series(${first}, ${last}) AS n`,
    `SELECT setval(pg_get_serial_sequence('hero', 'id'), ${last})`,
    'VACUUM ANALYZE hero',
    'CHECKPOINT',
  )
}
