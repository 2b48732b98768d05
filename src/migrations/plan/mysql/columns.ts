import type { Column, ColumnAttributes, Index, Table } from '../../../db/catalog/catalog.js'
import { type AlterColumn, type ChangeOf, changesOf, displayOfColumn, isSameTable } from '../../difference/change.js'
import { type Cast, castOf } from '../casts.js'
import { backfillOf, batchKeyOf, isRequired } from '../checks.js'
import type { PlanContext } from '../context.js'
import { columnText, commentText, typeText } from '../definitions.js'
import { misfit } from '../misfits.js'
import { outsideOfTexts } from '../names.js'
import { AT_ONCE, BLOCKS_NOBODY, BLOCKS_WRITERS, type PlacedStep, rewrites, rowsText, sqlStep } from '../planned.js'
import { parseType } from '../type-change.js'
import { typeForCast } from './cast-type.js'
import { ONLINE } from './keys.js'

export async function addColumn(context: PlanContext, table: Table, column: Column): Promise<PlacedStep[]> {
  const needsValue = !column.nullable && column.default === undefined && !column.identity && !column.generated
  if (needsValue) return addRequiredColumn(context, table, column)
  const text = columnText(context.kind, column)
  const alter = `ALTER TABLE ${context.table(table)} ADD COLUMN ${text}`
  if (isAddedAtOnce(column)) return [sqlStep(table, 'columns', `add column ${text}`, `${alter}, ALGORITHM=INSTANT`)]
  return [sqlStep(table, 'columns', `add column ${text}`, alter, rewrites(await context.rows(table), BLOCKS_WRITERS))]
}

/** Whether the value of all rows is known without them. */
function isAddedAtOnce({ default: text = '', identity, generated }: Column): boolean {
  if (identity || generated?.stored === true) return false
  return !outsideOfTexts(text).includes('(') || /^current_timestamp\(\d?\)$/i.test(text)
}

async function addRequiredColumn(context: PlanContext, table: Table, column: Column): Promise<PlacedStep[]> {
  const value = await backfillOf(context, table, column, undefined)
  if (value === false || value === undefined) return []
  const nullable = { ...column, nullable: true }
  return [
    ...(await addColumn(context, table, nullable)),
    await fill(context, table, column, value),
    ...afterMeanwhile(
      await fill(context, table, column, value),
      await modify(context, table, column, `set NOT NULL on ${column.name}`, 'not null'),
    ),
  ]
}

/**
 * The step that rows may refuse, and before it, those that the running program has added since they were filled; once more, for each time that it is refused.
 */
function afterMeanwhile(update: PlacedStep, { code, ...refusing }: PlacedStep): PlacedStep[] {
  return [
    { ...update, phase: refusing.phase, what: `${update.what}, of rows that came meanwhile`, isPart: true },
    { ...refusing, code: { kind: 'alone', sql: code.sql, again: true } },
  ]
}

async function fill(context: PlanContext, table: Table, { name }: Column, value: string): Promise<PlacedStep> {
  const quoted = context.quote(name)
  const kept = keptTimes(context, table, name)
  return update(
    context,
    table,
    `set ${name} where it is NULL`,
    `SET ${quoted} = ${value}${kept} WHERE ${quoted} IS NULL`,
  )
}

/** The columns that any UPDATE would set, unless it says otherwise. */
function keptTimes(context: PlanContext, { columns }: Table, changed: string): string {
  const others = columns.filter(({ name, attributes }) => name !== changed && attributes?.onUpdate !== undefined)
  return others.map(({ name }) => `, ${context.quote(name)} = ${context.quote(name)}`).join('')
}

/** An UPDATE of all rows, in batches where the table has a key. */
async function update(context: PlanContext, table: Table, what: string, rest: string): Promise<PlacedStep> {
  const rows = rowsText(await context.rows(table))
  const sql = `UPDATE ${context.table(table)} ${rest}`
  const key = batchKeyOf(context, table)
  if (key === undefined)
    return sqlStep(table, 'values', what, sql, `writes ${rows}, which others cannot write meanwhile`)
  return {
    ...sqlStep(table, 'values', `${what}, in batches`, sql, `writes ${rows}, ${BLOCKS_NOBODY}`),
    code: { kind: 'batches', table, key, sql },
  }
}

/** MODIFY has the whole column. It is done in the table, while others read and write it. */
async function modify(
  context: PlanContext,
  table: Table,
  column: Column,
  what: string,
  phase: PlacedStep['phase'] = 'columns',
): Promise<PlacedStep> {
  const sql = `ALTER TABLE ${context.table(table)} MODIFY COLUMN ${columnText(context.kind, column)}, ${ONLINE}`
  return sqlStep(table, phase, what, sql, rewrites(await context.rows(table), BLOCKS_NOBODY))
}

export async function alterColumn(context: PlanContext, change: AlterColumn): Promise<PlacedStep[]> {
  const { table, from, to, parts } = change
  if (refusesExpression(context, change) || refusesInvisible(context, change)) return []
  const isTyped = parts.includes('type') || parts.includes('values')
  const cast = isTyped ? await castOf(context, change) : undefined
  const isRequired = parts.includes('nullable') && !to.nullable
  const value = isRequired ? await backfillOf(context, table, to, from) : undefined
  if (value === false || (isTyped && !cast)) return []
  return [
    ...(cast?.sql === undefined
      ? []
      : [
          ...(await withRoomForBoth(context, change)),
          await update(
            context,
            table,
            `set ${to.name} to its new value`,
            `SET ${context.quote(to.name)} = ${cast.sql}${keptTimes(context, table, to.name)}`,
          ),
        ]),
    ...(value === undefined ? [] : [await fill(context, table, to, value)]),
    ...(await alteredAfterMeanwhile(context, change, cast, value)),
  ]
}

async function alteredAfterMeanwhile(
  context: PlanContext,
  change: AlterColumn,
  cast: Cast | undefined,
  value: string | undefined,
): Promise<PlacedStep[]> {
  const { table, from, to } = change
  const step = await altered(context, change, cast)
  if (value !== undefined) return afterMeanwhile(await fill(context, table, to, value), step)
  const name = context.quote(to.name)
  const condition = cast?.sql === undefined ? undefined : misfit(context.kind, name, from, to)
  if (cast?.sql === undefined || condition === undefined) return [step]
  const set = `SET ${name} = ${cast.sql}${keptTimes(context, table, to.name)} WHERE ${condition}`
  return afterMeanwhile(await update(context, table, `set ${to.name} to its new value`, set), step)
}

/** The new value may be one that the old type does not have. */
async function withRoomForBoth(context: PlanContext, change: AlterColumn): Promise<PlacedStep[]> {
  const { table, from, to } = change
  const type = typeForCast(context.kind, from, to)
  if (type === undefined) return withOldAndNewValues(context, change)
  const { identity: _identity, attributes: _attributes, enumValues: _values, collation = to.collation, ...kept } = from
  const { default: value, ...bare } = kept
  // A default that is computed may be none of another type.
  const isConstant = value !== undefined && !/\(|^current_/i.test(value)
  const column: Column = {
    ...bare,
    name: to.name,
    type,
    ...(isConstant ? { default: value } : {}),
    ...(collation !== undefined && isText(type) ? { collation } : {}),
  }
  const sql = `ALTER TABLE ${context.table(table)} MODIFY COLUMN ${columnText(context.kind, column)}`
  const what = `change ${to.name} to ${typeText(column)}, which has room for its new value`
  return [sqlStep(table, 'columns', what, sql, rewrites(await context.rows(table), BLOCKS_WRITERS))]
}

/** The new value may be one that the enum does not have yet. */
async function withOldAndNewValues(context: PlanContext, { table, from, to }: AlterColumn): Promise<PlacedStep[]> {
  const { enumValues: old } = from
  const added = old && to.enumValues?.filter((value) => !old.includes(value))
  if (!added || added.length === 0) return []
  const list = added.map((value) => `,${commentText(context.kind, value)}`).join('')
  const both = { ...from, name: to.name, type: `${from.type.slice(0, -1)}${list})`, enumValues: [...old, ...added] }
  const what = `add the values ${added.join(', ')} to ${to.name}`
  return [{ ...(await modify(context, table, both, what)), note: AT_ONCE }]
}

/** One MODIFY for all that differs. */
async function altered(context: PlanContext, change: AlterColumn, cast: Cast | undefined): Promise<PlacedStep> {
  const { table, to, parts } = change
  const column = merged(change)
  const what = `change ${to.name} to ${columnText(context.kind, column).slice(context.quote(to.name).length + 1)}`
  const copies =
    (cast !== undefined && cast.cost !== 'at once') || parts.includes('identity') || parts.includes('expression')
  if (!copies) {
    const online = await modify(context, table, column, what, 'not null')
    return parts.includes('nullable') ? online : { ...online, note: AT_ONCE }
  }
  const sql = `ALTER TABLE ${context.table(table)} MODIFY COLUMN ${columnText(context.kind, column)}`
  const note = rewrites(await context.rows(table), BLOCKS_WRITERS)
  return {
    ...sqlStep(table, 'not null', what, sql, note),
    ...(cast ? { rewritten: [{ table, column: to }] } : {}),
  }
}

/** The column with what differs, and with what the model leaves open as it is. */
function merged({ from, to, parts }: AlterColumn): Column {
  const { collation: _, ...typed } =
    parts.includes('type') || parts.includes('values') ? to : { ...to, type: from.type }
  const collation = to.collation ?? (isText(typed.type) ? from.collation : undefined)
  const comment = to.comment ?? from.comment
  const identity = to.identity ?? from.identity
  // Sequelize has no option for it.
  const generated = to.generated ?? from.generated
  return {
    ...typed,
    ...(generated === undefined ? {} : { generated }),
    ...(collation === undefined ? {} : { collation }),
    ...(comment === undefined ? {} : { comment }),
    ...(identity === undefined ? {} : { identity }),
    ...(from.attributes ? { attributes: attributesFor(from.attributes, typed.type) } : {}),
  }
}

/** Only a time has ON UPDATE, with as many digits as its type. */
function attributesFor({ onUpdate, ...attributes }: ColumnAttributes, type: string): ColumnAttributes {
  const { base, sizes } = parseType(type)
  if (onUpdate === undefined || (base !== 'datetime' && base !== 'timestamp')) return attributes
  return { ...attributes, onUpdate: `current_timestamp(${sizes[0] ?? ''})` }
}

function isText(type: string): boolean {
  return /char|text|enum|set/i.test(type)
}

function refusesExpression({ problems }: PlanContext, { table, from, to, parts }: AlterColumn): boolean {
  if (!parts.includes('expression') || (from.generated && to.generated)) return false
  problems.push(
    `${displayOfColumn(table, to.name)}: ${typeText(from)} cannot become a column that is computed, or the other way round. Write this migration by hand.`,
  )
  return true
}

/** MariaDB has no invisible column that is NOT NULL without a default. */
function refusesInvisible({ kind, problems }: PlanContext, { table, from, to }: AlterColumn): boolean {
  if (kind !== 'mariadb' || !from.attributes?.isInvisible || to.nullable || to.default !== undefined) return false
  problems.push(
    `${displayOfColumn(table, to.name)} is INVISIBLE, and cannot be NOT NULL without a default. Make it visible first.`,
  )
  return true
}

function optionalUntilThen(context: PlanContext, table: Table, column: Column): Promise<PlacedStep> {
  return modify(context, table, { ...column, nullable: true }, `drop NOT NULL of ${column.name}, which no model has`)
}

/** The keys and the indexes of the column go with it. */
export async function dropColumn(
  context: PlanContext,
  { table, column }: ChangeOf<'drop column'>,
): Promise<PlacedStep[]> {
  const { name } = column
  const keys = table.foreignKeys.filter(({ columns }) => columns.includes(name))
  const indexes = table.indexes.filter((index) => isDroppedWith(context, table, index, name))
  const alter = `ALTER TABLE ${context.table(table)}`
  const drops = [
    ...indexes.map((index) => `DROP INDEX ${context.quote(index.name)}`),
    `DROP COLUMN ${context.quote(name)}`,
  ]
  return [
    ...(isRequired(table, column) ? [await optionalUntilThen(context, table, column)] : []),
    ...keys.map((key) =>
      sqlStep(
        table,
        'drops of keys',
        `drop foreign key ${key.name}`,
        `${alter} DROP FOREIGN KEY ${context.quote(key.name ?? '')}`,
      ),
    ),
    sqlStep(
      table,
      'drops of columns',
      `drop column ${name}`,
      `${alter} ${drops.join(', ')}, ${ONLINE}`,
      rewrites(await context.rows(table), BLOCKS_NOBODY),
    ),
  ]
}

/** Drops the default, and NOT NULL, that only the database has. */
export async function dropColumnParts(
  context: PlanContext,
  { table, to, parts }: ChangeOf<'drop column parts'>,
): Promise<PlacedStep[]> {
  const what = parts.map((part) => (part === 'default' ? 'the default' : 'NOT NULL')).join(' and ')
  const online = await modify(context, table, to, `drop ${what} of ${to.name}`, 'drops of keys')
  return [parts.includes('nullable') ? online : { ...online, note: AT_ONCE }]
}

/** Whether an index goes with a column: not before, by itself or with another column. */
function isDroppedWith({ changes }: PlanContext, table: Table, { name, columns }: Index, column: string): boolean {
  const own = changesOf(changes, 'drop index', 'drop column').filter((change) => isSameTable(change.table, table))
  if (changesOf(own, 'drop index').some(({ index }) => index.name === name)) return false
  const dropped = changesOf(own, 'drop column').map((change) => change.column.name)
  return dropped.find((one) => columns.some((part) => part.column === one)) === column
}
