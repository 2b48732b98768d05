import { QueryTypes } from 'sequelize'
import { newLifespan } from 'sequitur'

/** Of PostgreSQL: columns, indexes, constraints and values of types, each as a line. */
const POSTGRES = `
  SELECT concat_ws(' ', 'column', table_name, column_name, data_type, udt_name, is_nullable, column_default) AS line
    FROM information_schema.columns WHERE table_schema = 'public'
  UNION ALL SELECT concat_ws(' ', pg_get_indexdef(indexrelid), indisvalid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relnamespace = 'public'::regnamespace
  UNION ALL SELECT concat_ws(' ', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
  UNION ALL SELECT concat_ws(' ', enumtypid::regtype, enumlabel) FROM pg_enum
  ORDER BY 1`

/** What a database has: its tables, and their rows. */
export async function snapshot(url: string): Promise<readonly string[]> {
  const database = newLifespan(url)
  return database.during(async () => {
    const { sequelize } = database
    const read = <Row extends object>(text: string) => sequelize.query<Row>(text, { type: QueryTypes.SELECT })
    const dialect = sequelize.getDialect()
    const quote = dialect === 'postgres' || dialect === 'sqlite' ? '"' : '`'
    const tables = (await sequelize.getQueryInterface().showAllTables()).map(nameOf).toSorted()
    const lines = [`tables ${tables.join(', ')}`]
    if (dialect === 'postgres') lines.push(...(await read<{ line: string }>(POSTGRES)).map(({ line }) => line))
    else if (dialect === 'sqlite')
      lines.push(
        ...(await read<{ sql: string }>('SELECT name, sql FROM sqlite_master ORDER BY 1')).map((row) =>
          JSON.stringify(row),
        ),
      )
    for (const table of tables) {
      if (quote === '`') {
        const [created] = await read<{ 'Create Table': string }>(`SHOW CREATE TABLE \`${table}\``)
        lines.push(created?.['Create Table'].replace(/ AUTO_INCREMENT=\d+/, '') ?? '')
      }
      lines.push(
        ...(
          await read(`SELECT * FROM ${quote}${table}${quote} ORDER BY 1, 2`).catch(() =>
            read(`SELECT * FROM ${quote}${table}${quote} ORDER BY 1`),
          )
        ).map((row) => `${table} ${JSON.stringify(row)}`),
      )
    }
    return lines
  })
}

// Sequelize's types say that they are strings.
function nameOf(table: unknown): string {
  return typeof table === 'object' && table !== null && 'tableName' in table ? String(table.tableName) : String(table)
}
