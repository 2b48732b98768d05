import type { Column, Table } from '../../../db/catalog/catalog.js'
import { type AlterColumn, displayOfColumn } from '../../difference/change.js'
import { backfillOf } from '../checks.js'
import type { PlanContext } from '../context.js'
import { columnText } from '../definitions.js'
import { outsideOfTexts } from '../names.js'
import { AT_ONCE, type PlacedStep, rewrites, sqlStep } from '../planned.js'
import { changeType, keptCollation } from './column-type.js'
import { keysAgain } from './keys.js'
import { notNull } from './not-null.js'
import { refuseReaders } from './readers.js'
import { widenSequences } from './sequences.js'
import { BLOCKS_ALL, commentOn } from './step.js'

export async function addColumn(context: PlanContext, table: Table, column: Column): Promise<PlacedStep[]> {
  const text = columnText('postgres', column)
  const needsValue = !column.nullable && column.default === undefined && !column.identity && !column.generated
  if (needsValue) return addRequiredColumn(context, table, column)
  const note = isVolatile(column) ? rewrites(await context.rows(table), BLOCKS_ALL) : AT_ONCE
  const nullable = column.nullable && !column.generated ? ' NULL' : ''
  return [
    sqlStep(
      table,
      'columns',
      `add column ${text}${nullable}`,
      `ALTER TABLE ${context.table(table)} ADD COLUMN ${text}`,
      note,
    ),
    ...comment(context, table, column),
  ]
}

function comment(context: PlanContext, table: Table, { name, comment: text }: Column): PlacedStep[] {
  if (text === undefined) return []
  const sql = commentOn(`COLUMN ${context.table(table)}.${context.quote(name)}`, text)
  return [sqlStep(table, 'columns', `comment of ${name}`, sql)]
}

/** What may stand before parentheses in a default that is the same for all rows: nothing, a type, or the time of the transaction. */
const CONSTANT: ReadonlySet<string> = new Set([
  '',
  'now',
  'varying',
  'numeric',
  'bit',
  'timestamp',
  'time',
  'character',
])

// now() is the same for all rows; random(), nextval() and gen_random_uuid() are not.
function isVolatile({ default: text = '', identity, generated }: Column): boolean {
  if (identity || generated?.stored === true) return true
  const before = outsideOfTexts(text).split('(').slice(0, -1)
  return before.some(
    (part) =>
      !CONSTANT.has(
        part
          .trimEnd()
          .split(/[^\w.]/)
          .at(-1)
          ?.toLowerCase() ?? '',
      ),
  )
}

async function addRequiredColumn(context: PlanContext, table: Table, column: Column): Promise<PlacedStep[]> {
  const value = await backfillOf(context, table, column, undefined)
  if (value === false || value === undefined) return []
  return [
    ...(await addColumn(context, table, { ...column, nullable: true })),
    ...(await notNull(context, table, column, value)),
  ]
}

export async function alterColumn(context: PlanContext, change: AlterColumn): Promise<PlacedStep[]> {
  const { table, from, to, parts } = change
  if (parts.includes('expression')) return changeExpression(context, change)
  const has = (part: AlterColumn['parts'][number]) => parts.includes(part)
  const steps =
    has('type') || has('values')
      ? await changeType(context, change)
      : has('default')
        ? [setDefault(context, change)]
        : []
  if (has('sequence')) steps.push(...(await widenSequences(context, change)))
  if (has('nullable')) steps.push(...(await changeNullable(context, table, from, to)))
  if (has('identity')) steps.push(...addIdentity(context, table, to))
  if (has('comment')) steps.push(...comment(context, table, to))
  return steps
}

function setDefault(context: PlanContext, { table, to }: AlterColumn): PlacedStep {
  const alter = `ALTER TABLE ${context.table(table)} ALTER COLUMN ${context.quote(to.name)}`
  return to.default === undefined
    ? sqlStep(table, 'columns', `drop the default of ${to.name}`, `${alter} DROP DEFAULT`)
    : sqlStep(table, 'columns', `set the default of ${to.name} to ${to.default}`, `${alter} SET DEFAULT ${to.default}`)
}

async function changeNullable(context: PlanContext, table: Table, from: Column, to: Column): Promise<PlacedStep[]> {
  if (to.nullable) {
    const sql = `ALTER TABLE ${context.table(table)} ALTER COLUMN ${context.quote(to.name)} DROP NOT NULL`
    return [sqlStep(table, 'columns', `drop NOT NULL of ${to.name}`, sql)]
  }
  const value = await backfillOf(context, table, to, from)
  return value === false ? [] : notNull(context, table, to, value)
}

// The sequence continues after the greatest key.
function addIdentity(context: PlanContext, table: Table, { name, sequence }: Column): PlacedStep[] {
  if (sequence !== undefined) {
    const sql = `ALTER TABLE ${context.table(table)} ALTER COLUMN ${context.quote(name)} SET DEFAULT ${sequence}`
    return [sqlStep(table, 'not null', `set the default of ${name} to ${sequence}`, sql)]
  }
  const [quoted, text] = [context.quote(name), context.table(table)]
  const ownSequence = `pg_get_serial_sequence('${text.replaceAll("'", "''")}', '${name.replaceAll("'", "''")}')`
  return [
    sqlStep(
      table,
      'not null',
      `generate ${name}`,
      `ALTER TABLE ${text} ALTER COLUMN ${quoted} ADD GENERATED BY DEFAULT AS IDENTITY`,
    ),
    sqlStep(
      table,
      'not null',
      'go on after the greatest key',
      `SELECT setval(${ownSequence}, coalesce(max(${quoted}), 0) + 1, false) FROM ${text}`,
    ),
  ]
}

async function changeExpression(context: PlanContext, { table, from, to }: AlterColumn): Promise<PlacedStep[]> {
  if (!from.generated || !to.generated) {
    const [now, wanted] = from.generated ? ['computes', 'stores'] : ['stores', 'computes']
    context.problems.push(
      `${displayOfColumn(table, to.name)}: the database ${now} it, and the model ${wanted} it. Write this migration by hand.`,
    )
    return []
  }
  await refuseReaders(context, table, to)
  const collation = to.collation ?? keptCollation(from, to)
  const added = collation === undefined ? to : { ...to, collation }
  const sql = `ALTER TABLE ${context.table(table)} DROP COLUMN ${context.quote(from.name)}, ADD COLUMN ${columnText('postgres', added)}`
  return [
    ...(await keysAgain(context, table, to.name)),
    sqlStep(
      table,
      'columns',
      `compute ${to.name} by ${to.generated.expression}`,
      sql,
      rewrites(await context.rows(table), BLOCKS_ALL),
    ),
  ]
}
