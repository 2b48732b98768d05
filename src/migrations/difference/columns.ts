import type { Column, DatabaseKind, EnumType, Table } from '../../db/catalog/catalog.js'
import type { ModelTable } from '../catalog/model-tables.js'
import type { Change, ColumnPart } from './change.js'
import { withUnstated } from './column-parts.js'
import { comparedExpression, hasSameDefault, hasSameType, hasSameValues } from './same.js'

/** The changes of the columns that the model and the table have, and the columns that only the model has. */
export function columnChanges(kind: DatabaseKind, from: Table, to: ModelTable, enums: readonly EnumType[]): Change[] {
  const before = new Map(from.columns.map((column) => [column.name, column]))
  return to.columns.flatMap((wanted): Change[] => {
    const old = before.get(wanted.name)
    if (!old) return [{ kind: 'add column', table: from, column: wanted }]
    const column = withUnstated(kind, from, old, to, wanted)
    const added = kind === 'postgres' ? addedValues(old, column, enums) : undefined
    const parts = partsThatDiffer(kind, old, column).filter((part) => !(part === 'values' && added))
    return [
      ...(added ?? []),
      ...(parts.length === 0 ? [] : [{ kind: 'alter column' as const, table: from, from: old, to: column, parts }]),
    ]
  })
}

function partsThatDiffer(kind: DatabaseKind, from: Column, to: Column): ColumnPart[] {
  const parts: ColumnPart[] = []
  if (!hasSameType(kind, from, to)) parts.push('type')
  else if (!hasSameValues(from.enumValues, to.enumValues)) parts.push('values')
  // What the database computes has no default, and is as nullable as its expression.
  if (from.generated || to.generated) return isSameExpression(kind, from, to) ? parts : ['expression']
  // Without its domain, the column has no NOT NULL.
  const isNullable = from.nullable || (from.notNullByDomain === true && parts.includes('type'))
  if (isNullable !== to.nullable) parts.push('nullable')
  // Sequelize writes INTEGER PRIMARY KEY, the number of the row on SQLite, also for a key that the program chooses.
  if (to.identity !== undefined && from.identity === undefined && to.identity !== 'rowid') parts.push('identity')
  // A type that changes brings its sequence along.
  if (from.hasNarrowSequence && to.identity !== undefined && !parts.includes('type')) parts.push('sequence')
  if (!hasIdentity(from, to) && !hasSameDefault(kind, from, to)) parts.push('default')
  if (to.comment !== undefined && to.comment !== from.comment) parts.push('comment')
  return parts
}

// A key that the database counts although the model does not ask for it is no difference.
function hasIdentity(from: Column, to: Column): boolean {
  return from.identity !== undefined || to.identity !== undefined
}

// Sequelize has no option for the expression: a model that says nothing of it may be right.
function isSameExpression(kind: DatabaseKind, { generated: from }: Column, { generated: to }: Column): boolean {
  if (from && !to) return true
  const [one, other] = [from, to].map((generated) => comparedExpression(kind, generated?.expression))
  return one === other && from?.stored === to?.stored
}

/** The values that an enum type lacks; undefined if it has values that the model does not have, so that it is made again. */
function addedValues(from: Column, to: Column, enums: readonly EnumType[]): Change[] | undefined {
  const { enumValues: old } = from
  const { enumValues: values } = to
  const type = old && enums.find((candidate) => isTypeOf(candidate, from))
  if (!type || !values || !old.every((value) => values.includes(value))) return undefined
  return values.flatMap((value, index): Change[] => {
    if (old.includes(value)) return []
    const after = values[index - 1]
    return [{ kind: 'add enum value', type, value, ...(after === undefined ? {} : { after }) }]
  })
}

/** Whether it is the enum type of the column, or of the items of its array. */
export function isTypeOf(enumType: EnumType, column: Column): boolean {
  return isNamedAs(enumType, column) && hasSameValues(enumType.values, column.enumValues ?? [])
}

/** Whether the column, or its items, have a type of this name. */
export function isNamedAs({ schema, name }: EnumType, { type }: Column): boolean {
  const bare = (text: string) => text.replaceAll('"', '')
  const wanted = bare(type.endsWith('[]') ? type.slice(0, -2) : type)
  return [name, schema === undefined ? name : `${schema}.${name}`].map(bare).includes(wanted)
}
