import type { TableName } from '../../../db/catalog/catalog.js'
import { type AlterColumn, changesOf, displayOf, displayOfColumn, isSameTable } from '../../difference/change.js'
import type { PlanContext } from '../context.js'
import type { PlacedStep } from '../planned.js'
import { comparingConditions } from './readers.js'

/*
 * CHECKs and indexes stay when a column gets another type, unless they compare it with what that type does not compare with. Only the server knows which
 * do: it is asked, by a temporary table without rows.
 */

/** Notes a problem for each table of which the server would refuse the new types of columns. */
export async function refuseTypes(context: PlanContext, steps: readonly PlacedStep[]): Promise<void> {
  const altered = changesOf(context.changes, 'alter column').filter(
    ({ parts }) => parts.includes('type') || parts.includes('values'),
  )
  const isFirst = ({ table }: AlterColumn, index: number) =>
    altered.findIndex((change) => isSameTable(change.table, table)) === index
  for (const { table } of altered.filter(isFirst)) {
    const own = altered.filter((change) => isSameTable(change.table, table))
    const columns = own.map(({ to }) => to.name)
    await refuseTypesOf(context, table, columns, steps)
  }
}

async function refuseTypesOf(
  context: PlanContext,
  table: TableName,
  columns: readonly string[],
  steps: readonly PlacedStep[],
): Promise<void> {
  const statements = statementsOnCopy(context, table, steps)
  if (statements.length === 0) return
  const types = typesOf(steps, table)
  const refusalWith = (parts: string) =>
    context.facts.refusalOf([...types, ...copyOf(context, table, parts)], statements)
  const refusal = await refusalWith('INCLUDING ALL')
  if (refusal === undefined) return
  const isAlways = await refusalWith('INCLUDING ALL EXCLUDING CONSTRAINTS EXCLUDING INDEXES')
  const conditions = isAlways === undefined ? await comparingConditions(context, table, columns) : []
  const which = columns.map((column) => displayOfColumn(table, column)).join(', ')
  const [are, them] = [columns.length === 1 ? 'is' : 'are', conditions.length === 1 ? 'it' : 'them']
  context.problems.push(
    conditions.length === 0
      ? `${which}: PostgreSQL refuses the new type: ${refusal}. Write this migration by hand:\n${steps.find((step) => isRewrite(step, table))?.code.sql}`
      : `${which} ${are} compared by ${conditions.join(', ')}: PostgreSQL refuses the new type meanwhile: ${refusal}. Drop ${them} first, and create ${them} again afterwards.`,
  )
}

function isRewrite({ phase, table: of, note }: PlacedStep, table: TableName): boolean {
  return phase === 'columns' && of === displayOf(table) && note.startsWith('rewrites ')
}

/** Named as the table is: what people write for --cast may name it. */
function copyName(context: PlanContext, { name }: TableName): string {
  return `pg_temp.${context.quote(name)}`
}

function statementsOnCopy(context: PlanContext, table: TableName, steps: readonly PlacedStep[]): readonly string[] {
  const alter = `ALTER TABLE ${context.table(table)} `
  return steps
    .filter((step) => isRewrite(step, table) && step.code.sql.startsWith(alter))
    .map(({ code }) => `ALTER TABLE ${copyName(context, table)} ${code.sql.slice(alter.length)}`)
}

/** The statements that create the types of the columns. */
function typesOf(steps: readonly PlacedStep[], table: TableName): readonly string[] {
  return steps
    .filter(({ phase, table: of, code }) => {
      const isOwn = phase === 'columns' && of === displayOf(table) && code.sql.startsWith('CREATE TYPE ')
      return isOwn || (phase === 'types' && code.kind === 'sql')
    })
    .map(({ code }) => code.sql)
}

/** The table as it is once the renames are done. */
function copyOf(context: PlanContext, table: TableName, parts: string): readonly string[] {
  const [current, copy] = [context.current(table) ?? table, copyName(context, table)]
  const renames = changesOf(context.changes, 'rename column').filter((change) => isSameTable(change.table, current))
  return [
    `CREATE TEMPORARY TABLE ${copy} (LIKE ${context.table(current)} ${parts})`,
    ...renames.map(
      ({ column, to }) => `ALTER TABLE ${copy} RENAME COLUMN ${context.quote(column.name)} TO ${context.quote(to)}`,
    ),
  ]
}
