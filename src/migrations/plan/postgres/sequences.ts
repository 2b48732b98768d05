import type { AlterColumn } from '../../difference/change.js'
import type { PlanContext } from '../context.js'
import { typeText } from '../definitions.js'
import { quoteText } from '../names.js'
import { type PlacedStep, sqlStep } from '../planned.js'

const WHOLE_NUMBERS: readonly string[] = ['smallint', 'integer', 'bigint']

/** A serial column has a sequence with a type of its own: the one of a column that becomes BIGINT would still end at 2147483647. */
export async function widenSequences(context: PlanContext, { table, to }: AlterColumn): Promise<PlacedStep[]> {
  const current = context.current(table)
  const column = context.currentColumn(table, to.name)
  if (!current || column === undefined || !WHOLE_NUMBERS.includes(to.type)) return []
  const sequences = await context.facts.names(narrowSequencesQuery(context.table(current), column, to.type))
  return sequences.map((sequence) =>
    sqlStep(
      table,
      'columns',
      `change the sequence of ${to.name} to ${typeText(to)}`,
      `ALTER SEQUENCE ${sequence} AS ${to.type}`,
    ),
  )
}

/** The sequences that belong to the column, and have a smaller type. PostgreSQL changes the one of an identity column itself. */
function narrowSequencesQuery(table: string, column: string, type: string): string {
  return `SELECT CAST(CAST(q.seqrelid AS regclass) AS text) AS name
    FROM pg_catalog.pg_depend AS d
      JOIN pg_catalog.pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
      JOIN pg_catalog.pg_sequence AS q ON q.seqrelid = d.objid
      JOIN pg_catalog.pg_type AS o ON o.oid = q.seqtypid
      JOIN pg_catalog.pg_type AS w ON w.oid = CAST('${type}' AS regtype)
    WHERE d.classid = CAST('pg_catalog.pg_class' AS regclass) AND d.refclassid = CAST('pg_catalog.pg_class' AS regclass)
      AND d.deptype = 'a' AND d.refobjid = to_regclass(${quoteText('postgres', table)})
      AND a.attname = ${quoteText('postgres', column)} AND o.typlen < w.typlen
    ORDER BY 1`
}
