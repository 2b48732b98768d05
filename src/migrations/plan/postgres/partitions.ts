import type { Table, TableName } from '../../../db/catalog/catalog.js'
import { displayOf } from '../../difference/change.js'
import type { PlanContext } from '../context.js'
import { quoteText } from '../names.js'

/** Whether the table has partitions, or may get some: then no index of it is made CONCURRENTLY, and no foreign key is NOT VALID. */
export async function isPartitioned(context: PlanContext, table: Table): Promise<boolean> {
  const hasPartitions = table.others.some((what) => what.startsWith('partition '))
  return hasPartitions || (await partitionColumns(context, table)).length > 0
}

/** Notes a problem if columns become unique without those by which the table is partitioned: PostgreSQL would refuse it at `up`. */
export async function refusePartOfPartitionKey(
  context: PlanContext,
  table: Table,
  columns: readonly string[],
): Promise<void> {
  const missing = (await partitionColumns(context, table)).filter((name) => !columns.includes(name))
  if (missing.length === 0) return
  const names = missing.map((name) => (name === '' ? 'an expression' : name)).join(', ')
  context.problems.push(
    `${displayOf(table)} (${columns.join(', ')}) becomes unique, and the table is partitioned by ${names}: PostgreSQL has only unique keys that contain that. Leave it out of the model, or add what it lacks.`,
  )
}

/** The columns by which the table is partitioned, with their present names; an empty name for an expression. None for a table without partitions. */
function partitionColumns(context: PlanContext, table: TableName): Promise<readonly string[]> {
  const current = context.current(table)
  if (!current) return Promise.resolve([])
  return context.facts.names(`SELECT coalesce(a.attname, '') AS name
    FROM pg_catalog.pg_partitioned_table AS p CROSS JOIN LATERAL unnest(p.partattrs) WITH ORDINALITY AS u (number, place)
      LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = p.partrelid AND a.attnum = u.number
    WHERE p.partrelid = to_regclass(${quoteText('postgres', context.table(current))}) ORDER BY u.place`)
}
