import type { Column, ForeignKey, Table, TableName } from '../../../db/catalog/catalog.js'
import { type AlterColumn, changesOf, displayOf, displayOfColumn, isSameTable } from '../../difference/change.js'
import { renamedCatalog, renamesIn } from '../../difference/renamed.js'
import { refuseOrphans } from '../checks.js'
import type { PlanContext } from '../context.js'
import { foreignKeyText, typeText } from '../definitions.js'
import { BLOCKS_WRITERS, type PlacedStep, rewrites, sqlStep } from '../planned.js'
import { parseType } from '../type-change.js'

/*
 * The server changes no type of a column while a foreign key has it, on either side: the key is dropped before, and added again, which checks all rows.
 */

interface Key {
  readonly table: Table
  readonly key: ForeignKey
}

/** The keys of tables that are there, also of those that no model has. */
function remadeKeys(context: PlanContext): readonly Key[] {
  const { tables } = renamedCatalog(context.database, renamesIn(context.changes))
  return tables.flatMap((table) =>
    table.foreignKeys.flatMap((key) =>
      key.columns.some((column) => alteration(context, table, column)) || refersToAltered(context, key)
        ? [{ table, key }]
        : [],
    ),
  )
}

export function isRemade(context: PlanContext, table: TableName, { name }: ForeignKey): boolean {
  return remadeKeys(context).some((one) => isSameTable(one.table, table) && one.key.name === name)
}

/** Whether a key refers to a column that gets another type. */
export function refersToAltered(context: PlanContext, { table, references }: ForeignKey): boolean {
  return references.some((column) => alteration(context, table, column))
}

function alteration({ changes }: PlanContext, table: TableName, column: string): AlterColumn | undefined {
  return changesOf(changes, 'alter column').find(
    ({ table: altered, to, parts }) =>
      isSameTable(altered, table) &&
      to.name === column &&
      parts.some((part) => part === 'type' || part === 'values' || part === 'identity'),
  )
}

/** Drops the keys before, and adds them afterwards. */
export async function remakeKeys(context: PlanContext): Promise<PlacedStep[]> {
  const steps: PlacedStep[] = []
  for (const { table, key } of remadeKeys(context))
    if (!refusesTypes(context, table, key)) steps.push(...(await remake(context, table, key)))
  return steps
}

async function remake(context: PlanContext, table: Table, key: ForeignKey): Promise<PlacedStep[]> {
  const alter = `ALTER TABLE ${context.table(table)}`
  const name = context.quote(key.name ?? '')
  const text = `foreign key ${key.columns.join(', ')} -> ${displayOf(key.table)}`
  const drop = sqlStep(
    table,
    'columns',
    `drop ${text}, until its types are changed`,
    `${alter} DROP FOREIGN KEY ${name}`,
  )
  const isReplaced = changesOf(context.changes, 'replace foreign key').some(
    (change) => isSameTable(change.table, table) && change.from.name === key.name,
  )
  if (isReplaced) return [drop]
  await refuseOrphans(context, table, key)
  const note = rewrites(await context.rows(table), `checks them, ${BLOCKS_WRITERS}`)
  return [
    drop,
    sqlStep(table, 'foreign keys', `add ${text} again`, `${alter} ADD ${foreignKeyText(context.kind, key)}`, note),
  ]
}

/** Notes a problem if the two sides of a key would have different types. */
function refusesTypes(context: PlanContext, table: Table, key: ForeignKey): boolean {
  const pairs = key.columns.map((name, index) => ({ name, reference: key.references[index] ?? '' }))
  const wrong = pairs.find(({ name, reference }) => {
    const [own, other] = [typeAfter(context, table, name), typeAfter(context, key.table, reference)]
    return own && other && comparedType(own) !== comparedType(other)
  })
  if (!wrong) return false
  const side = (at: TableName, column: string) => {
    const type = typeAfter(context, at, column)
    return `${displayOfColumn(at, column)}${type ? ` (${typeText(type)})` : ''}`
  }
  const own = side(table, wrong.name)
  context.problems.push(
    `${own} would not have the type of ${side(key.table, wrong.reference)}, to which its foreign key ${key.name} refers. Change both in the models, or drop that key first: ALTER TABLE ${context.table(table)} DROP FOREIGN KEY ${context.quote(key.name ?? '')}`,
  )
  return true
}

/** The column as it will be; undefined for one of another database. */
function typeAfter(context: PlanContext, table: TableName, name: string): Column | undefined {
  const altered = alteration(context, table, name)
  if (altered) return altered.to
  const current = context.currentColumn(table, name)
  return context.current(table)?.columns.find((column) => column.name === current)
}

/** Texts may differ in their lengths, and numbers in the width that is shown. */
function comparedType({ type }: Column): string {
  const { base, sizes } = parseType(type)
  if (/char|text|binary|blob|enum|set/.test(base)) return /binary|blob/.test(base) ? 'bytes' : 'text'
  return base === 'numeric' ? `${base}(${sizes.join(',')})` : base
}
