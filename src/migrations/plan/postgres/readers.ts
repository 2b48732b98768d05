import type { Column, Table, TableName } from '../../../db/catalog/catalog.js'
import { changesOf, displayOf, displayOfColumn, isSameTable } from '../../difference/change.js'
import type { PlanContext } from '../context.js'
import { quoteText } from '../names.js'

/*
 * PostgreSQL neither changes the type of a column, nor drops it, while a view, a computed column, a policy or a trigger names it. A migration that tries
 * to would fail after the steps before it.
 */

/** Notes a problem if something reads a column whose type changes. */
export async function refuseReaders(context: PlanContext, table: Table, { name }: Column): Promise<void> {
  const readers = await readersOf(context, table, name)
  if (readers.length === 0) return
  context.problems.push(
    `${displayOfColumn(table, name)} is read by ${readers.join(', ')}: PostgreSQL does not change its type meanwhile. Write this migration by hand: drop ${them(readers)}, change the column, create ${them(readers)} again.`,
  )
}

/** `check hero_check`, `index hero_name`: the CHECKs that name one of the columns, and the indexes that have it in an expression or a condition. */
export async function comparingConditions(
  context: PlanContext,
  table: TableName,
  columns: readonly string[],
): Promise<readonly string[]> {
  const current = context.current(table)
  if (!current) return []
  const names = columns.flatMap((column) => context.currentColumn(table, column) ?? [])
  return context.facts.names(conditionsQuery(context.table(current), names))
}

/** Notes a problem if something reads a column that is dropped, and is not dropped before it. */
export async function refuseReadersOfDropped(context: PlanContext, table: Table, { name }: Column): Promise<void> {
  const dropped = changesOf(context.changes, 'drop column')
    .filter((change) => change.column.generated && isSameTable(change.table, table))
    .map(({ column }) => `computed column ${column.name}`)
  const readers = (await readersOf(context, table, name)).filter((reader) => !dropped.includes(reader))
  if (readers.length === 0) return
  context.problems.push(
    `${displayOfColumn(table, name)} is read by ${readers.join(', ')}: PostgreSQL does not drop it meanwhile. Drop ${them(readers)} first.`,
  )
}

/** Notes a problem for each table that is dropped while a view, a function or a policy of another table reads it. */
export async function refuseReadersOfTables(context: PlanContext): Promise<void> {
  for (const { table } of changesOf(context.changes, 'drop table')) {
    const readers = await context.facts.names(readersOfTableQuery(context.table(table)))
    if (readers.length > 0)
      context.problems.push(
        `--drop ${displayOf(table)}: ${readers.join(', ')} would fail without it: PostgreSQL does not drop it meanwhile. Drop ${them(readers)} first.`,
      )
  }
}

function them({ length }: readonly string[]): string {
  return length === 1 ? 'it' : 'them'
}

/** `view names`, `computed column lower_name`, `policy own on table hero` */
async function readersOf(context: PlanContext, table: Table, column: string): Promise<readonly string[]> {
  const current = context.current(table)
  const name = context.currentColumn(table, column)
  if (!current || name === undefined) return []
  return context.facts.names(readersQuery(context.table(current), name))
}

function ofClass(name: string): string {
  return `CAST('pg_catalog.${name}' AS regclass)`
}

function classes(...names: readonly string[]): string {
  return names.map(ofClass).join(', ')
}

/** A view by its name; `ELSE` names the others. */
const VIEW_OR = `CASE WHEN v.relkind = 'm' THEN 'materialized view ' || v.relname WHEN v.relkind = 'v' THEN 'view ' || v.relname`

/** The rule of a view names the tables that it reads. */
const JOIN_VIEW = `LEFT JOIN pg_catalog.pg_rewrite AS w ON d.classid = ${ofClass('pg_rewrite')} AND w.oid = d.objid
      LEFT JOIN pg_catalog.pg_class AS v ON v.oid = w.ev_class`

function readersQuery(table: string, column: string): string {
  return `SELECT DISTINCT ${VIEW_OR}
      WHEN g.attname IS NOT NULL THEN 'computed column ' || g.attname
      ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END AS name
    FROM pg_catalog.pg_depend AS d
      JOIN pg_catalog.pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
      ${JOIN_VIEW}
      LEFT JOIN pg_catalog.pg_attrdef AS e ON d.classid = ${ofClass('pg_attrdef')} AND e.oid = d.objid
      LEFT JOIN pg_catalog.pg_attribute AS g ON to_jsonb(g) ->> 'attgenerated' <> '' AND g.attnum <> a.attnum AND (
        (g.attrelid = e.adrelid AND g.attnum = e.adnum)
        OR (d.classid = ${ofClass('pg_class')} AND g.attrelid = d.objid AND g.attnum = d.objsubid))
    WHERE d.refclassid = ${ofClass('pg_class')} AND d.refobjid = to_regclass(${quoteText('postgres', table)})
      AND a.attname = ${quoteText('postgres', column)}
      AND (g.attname IS NOT NULL OR d.classid IN (${classes('pg_rewrite', 'pg_trigger', 'pg_policy', 'pg_proc', 'pg_publication_rel')}))
    ORDER BY 1`
}

function conditionsQuery(table: string, columns: readonly string[]): string {
  return `SELECT DISTINCT CASE WHEN k.contype = 'x' THEN 'exclusion ' || k.conname WHEN k.conname IS NOT NULL THEN 'check ' || k.conname
      ELSE 'index ' || c.relname END AS name
    FROM pg_catalog.pg_depend AS d
      JOIN pg_catalog.pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
      LEFT JOIN pg_catalog.pg_constraint AS k ON d.classid = ${ofClass('pg_constraint')} AND k.oid = d.objid AND k.contype IN ('c', 'x')
      LEFT JOIN pg_catalog.pg_index AS i ON d.classid = ${ofClass('pg_class')} AND i.indexrelid = d.objid
        AND (i.indpred IS NOT NULL OR i.indexprs IS NOT NULL)
      LEFT JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
    WHERE d.refclassid = ${ofClass('pg_class')} AND d.refobjid = to_regclass(${quoteText('postgres', table)})
      AND a.attname IN (${columns.map((column) => quoteText('postgres', column)).join(', ')})
      AND (k.oid IS NOT NULL OR c.oid IS NOT NULL)
    ORDER BY 1`
}

function readersOfTableQuery(table: string): string {
  return `SELECT DISTINCT ${VIEW_OR}
      ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END AS name
    FROM pg_catalog.pg_depend AS d
      ${JOIN_VIEW}
      LEFT JOIN pg_catalog.pg_policy AS p ON d.classid = ${ofClass('pg_policy')} AND p.oid = d.objid
    WHERE d.refclassid = ${ofClass('pg_class')} AND d.refobjid = to_regclass(${quoteText('postgres', table)})
      AND d.deptype = 'n' AND d.classid IN (${classes('pg_rewrite', 'pg_policy', 'pg_proc')})
      AND coalesce(v.oid, p.polrelid) IS DISTINCT FROM d.refobjid
    ORDER BY 1`
}
