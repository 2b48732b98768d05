// Ends the server's side of all other connections to a database, and returns when they are gone.
// Plain JavaScript, because it runs dozens of times, and tsx starts in half a second.

const settings = JSON.parse(process.env['SETTINGS'] ?? '{}')

if (process.env['DIALECT'] === 'postgres') {
  const { Client } = await import('pg')
  const client = new Client(settings)
  await client.connect()
  const others = 'FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
  await client.query(`SELECT pg_terminate_backend(pid) ${others}`)
  for (let left = 1; left > 0;) left = (await client.query(`SELECT pid ${others}`)).rows.length
  await client.end()
} else {
  const { createConnection } = await import('mariadb')
  const connection = await createConnection(settings)
  const others = 'SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()'
  /** @type {readonly { readonly id: number | bigint }[]} */
  const ids = await connection.query(others)
  for (const { id } of ids) await connection.query(`KILL ${id}`)
  for (let left = 1; left > 0;) left = (await connection.query(others)).length
  await connection.end()
}
