import type { Catalog, Column, DatabaseKind, Index, Table } from '../../db/catalog/catalog.js'
import type { ModelTable } from '../catalog/model-tables.js'
import { displayOf, displayOfColumn, displayOfPart } from './change.js'
import { type Choices, displayOfKey, type Drop } from './choices.js'
import { droppableParts, unstatedParts } from './column-parts.js'
import { keyChanges } from './keys.js'
import { uniqueColumns } from './same.js'

/*
 * What the database has, and no model.
 */

export function unknownColumns(
  from: Table,
  to: Table,
  drops: ReadonlyMap<string, Drop>,
  { without = [] }: Choices,
): { table: Table; column: Column }[] {
  const known = new Set(to.columns.map(({ name }) => name))
  const isLeft = (name: string) => drops.has(name) || without.includes(name)
  return from.columns
    .filter(({ name }) => !known.has(name) && !isLeft(displayOfColumn(from, name)))
    .map((column) => ({ table: from, column }))
}

export function unknownIn(
  { kind, tables }: Catalog,
  kept: readonly { readonly table: ModelTable; readonly old: Table }[],
  drops: ReadonlyMap<string, Drop>,
): string[] {
  const isLeft = (name: string) => !drops.has(name)
  const others = tables.filter((table) => !kept.some(({ old }) => old === table)).map(displayOf)
  return [
    ...kept.flatMap(({ table, old }) => unknownParts(kind, old, table, isLeft)),
    ...others.filter(isLeft).map((name) => `table ${name}`),
  ]
}

/** A constraint or an index that its model does not have. */
interface UnknownKey {
  /** `index hero.hero_age` */
  readonly name: string
  /** Whether rows may be refused because of it, or its name is the one that Sequelize gives: it may have been the model's. */
  readonly isNoted: boolean
}

export function unknownKeys(kind: DatabaseKind, from: Table, to: ModelTable): UnknownKey[] {
  // Seen from the model, the parts of the database that it lacks are those that it would get.
  const states = { onDelete: false, onUpdate: false }
  const reversed: ModelTable = {
    ...from,
    models: [],
    filled: [],
    foreignKeys: from.foreignKeys.map((key) => ({ ...key, states })),
  }
  return keyChanges(kind, to, reversed).flatMap((change): UnknownKey[] => {
    if (change.kind === 'add index' || change.kind === 'replace index')
      return [{ name: `index ${displayOfKey(from, change.index)}`, isNoted: isOfSequelize(from, change.index) }]
    if (change.kind === 'add unique') return [{ name: `unique ${displayOfKey(from, change.unique)}`, isNoted: true }]
    if (change.kind === 'add foreign key')
      return [{ name: `foreign key ${displayOfKey(from, change.foreignKey)}`, isNoted: true }]
    return []
  })
}

function isOfSequelize({ name: table }: Table, index: Index): boolean {
  const columns = index.columns.flatMap(({ column }) => column ?? [])
  return uniqueColumns(index) !== undefined || index.name === `${table}_${columns.join('_')}`
}

/** The constraints and indexes of a table that its model does not have, and what no model can have. */
function unknownParts(kind: DatabaseKind, from: Table, to: ModelTable, isLeft: (name: string) => boolean): string[] {
  return [
    ...unknownKeys(kind, from, to).flatMap(({ name }) => (isLeft(name) ? [name] : [])),
    ...unstatedIn(from, to, isLeft),
    ...from.others.map((other) => `${other} of ${displayOf(from)}`),
  ]
}

/** `default 7 of hero.age (--drop hero.age.default)` */
function unstatedIn(from: Table, to: ModelTable, isLeft: (name: string) => boolean): string[] {
  return to.columns.flatMap((column) => {
    const old = from.columns.find(({ name }) => name === column.name)
    if (!old) return []
    const droppable = droppableParts(from, old)
    return unstatedParts(from, old, to, column).flatMap((part) => {
      const name = displayOfPart(from, column.name, part)
      if (!droppable.includes(part) || !isLeft(name)) return []
      const what = part === 'default' ? `default ${old.default}` : 'NOT NULL'
      return [`${what} of ${displayOfColumn(from, column.name)} (--drop ${name})`]
    })
  })
}
