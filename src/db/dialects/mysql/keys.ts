import { QueryTypes, type Sequelize } from 'sequelize'
import type { GeneratedKey, KeyColumn } from '../../dialect.js'

/** MySQL keeps the next number for up to a day in its information schema: the greatest key may be newer. */
const keysOf = ({ table, column }: KeyColumn) => `SELECT c.column_type AS type,
    CAST(GREATEST(COALESCE(t.auto_increment, 1) - 1, COALESCE((SELECT MAX(${quoted(column)}) FROM ${table}), 0)) AS CHAR) AS last
  FROM information_schema.columns c JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
  WHERE c.table_schema = DATABASE() AND c.table_name = $1 AND c.column_name = $2 AND c.extra LIKE '%auto_increment%'`

const BITS: Readonly<Record<string, number>> = { tinyint: 8, smallint: 16, mediumint: 24, int: 32, bigint: 64 }

export async function readKeys(sequelize: Sequelize, columns: readonly KeyColumn[]): Promise<readonly GeneratedKey[]> {
  const keys: GeneratedKey[] = []
  for (const { table, column } of columns) {
    const bind = [table.replaceAll('`', ''), column]
    const options = { bind, type: QueryTypes.SELECT } as const
    const [row] = await sequelize.query<{ type: string; last: string }>(keysOf({ table, column }), options)
    const bits = BITS[/^\w+/.exec(row?.type ?? '')?.[0] ?? '']
    if (row && bits !== undefined)
      keys.push({ table, column, type: row.type, last: Number(row.last), most: greatest(bits, row.type) })
  }
  return keys
}

function greatest(bits: number, type: string): number {
  return 2 ** (type.includes('unsigned') ? bits : bits - 1) - 1
}

function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}
