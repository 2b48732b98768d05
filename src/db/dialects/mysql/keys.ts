import { QueryTypes, type Sequelize } from 'sequelize'
import type { GeneratedKey, KeyColumn } from '../../dialect.js'

/**
 * MySQL keeps the next number for up to a day in its information schema: the greatest key may be newer. MariaDB finds a table there by its name only if that
 * is a constant: a join of `columns` and `tables` opens all tables of all databases.
 */
const keysOf = ({ table, column }: KeyColumn, number: number) => `SELECT ${number} AS number, c.column_type AS type,
    CAST(GREATEST(
      COALESCE((SELECT MAX(t.auto_increment) FROM information_schema.tables t WHERE t.table_schema = DATABASE() AND t.table_name = $${2 * number + 1}), 1) - 1,
      COALESCE((SELECT MAX(${quoted(column)}) FROM ${table}), 0)) AS CHAR) AS last
  FROM information_schema.columns c
  WHERE c.table_schema = DATABASE() AND c.table_name = $${2 * number + 1} AND c.column_name = $${2 * number + 2}
    AND c.extra LIKE '%auto_increment%'`

const BITS: Readonly<Record<string, number>> = { tinyint: 8, smallint: 16, mediumint: 24, int: 32, bigint: 64 }

/** A statement for each table would be a round trip for each; the text of one for all could be of any length. */
const TABLES_OF_STATEMENT = 20

export async function readKeys(sequelize: Sequelize, columns: readonly KeyColumn[]): Promise<readonly GeneratedKey[]> {
  const keys: GeneratedKey[] = []
  for (let first = 0; first < columns.length; first += TABLES_OF_STATEMENT)
    keys.push(...(await readSome(sequelize, columns.slice(first, first + TABLES_OF_STATEMENT))))
  return keys
}

interface KeyRow {
  readonly number: number
  readonly type: string
  readonly last: string
}

async function readSome(sequelize: Sequelize, columns: readonly KeyColumn[]): Promise<readonly GeneratedKey[]> {
  const bind = columns.flatMap(({ table, column }) => [table.replaceAll('`', ''), column])
  const text = columns.map(keysOf).join(' UNION ALL ')
  const rows = await sequelize.query<KeyRow>(text, { bind, type: QueryTypes.SELECT })
  return rows.flatMap(({ number, type, last }) => {
    const { table, column } = columns[Number(number)] ?? {}
    const bits = BITS[/^\w+/.exec(type)?.[0] ?? '']
    if (table === undefined || column === undefined || bits === undefined) return []
    return { table, column, type, last: Number(last), most: greatest(bits, type) }
  })
}

function greatest(bits: number, type: string): number {
  return 2 ** (type.includes('unsigned') ? bits : bits - 1) - 1
}

function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}
