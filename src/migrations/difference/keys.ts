import type { DatabaseKind, ForeignKey, Index, Table } from '../../db/catalog/catalog.js'
import type { ModelForeignKey, ModelTable } from '../catalog/model-tables.js'
import type { Change } from './change.js'
import { columnsKey, foreignKeyKey, indexKey, uniqueColumns } from './same.js'

/** The keys, constraints and indexes that the table lacks, or has otherwise than the model. */
export function keyChanges(kind: DatabaseKind, from: Table, to: ModelTable): Change[] {
  return [
    ...primaryKeyChanges(from, to),
    ...uniqueChanges(from, to),
    ...indexChanges(kind, from, to),
    ...foreignKeyChanges(kind, from, to),
  ]
}

function primaryKeyChanges(from: Table, { primaryKey: key }: Table): Change[] {
  const old = from.primaryKey?.columns
  return !key || (old && columnsKey(old) === columnsKey(key.columns))
    ? []
    : [{ kind: 'change primary key', table: from, key }]
}

/** What is unique in a table: a constraint and an index are the same for a model. */
function uniquesOf({ primaryKey, uniques, indexes }: Table): Set<string> {
  const keys = [...(primaryKey ? [primaryKey] : []), ...uniques].map(({ columns }) => columns)
  const ofIndexes = indexes.flatMap((index) =>
    (index.valid ? (uniqueColumns(index) ?? []) : []).length > 0 ? [uniqueColumns(index) ?? []] : [],
  )
  return new Set([...keys, ...ofIndexes].map(columnsKey))
}

function uniqueChanges(from: Table, to: Table): Change[] {
  const known = uniquesOf(from)
  return to.uniques
    .filter(({ columns }) => !known.has(columnsKey(columns)))
    .map((unique): Change => ({ kind: 'add unique', table: from, unique }))
}

function indexChanges(kind: DatabaseKind, from: Table, to: ModelTable): Change[] {
  const valid = new Set(from.indexes.filter(({ valid }) => valid).map((index) => indexKey(kind, index)))
  const uniques = uniquesOf(from)
  const isThere = (index: Index) => {
    const columns = uniqueColumns(index)
    return valid.has(indexKey(kind, index)) || (columns !== undefined && uniques.has(columnsKey(columns)))
  }
  return to.indexes.filter((index) => !isThere(index)).map((index) => indexChange(from, index))
}

function indexChange(table: Table, index: Index): Change {
  const from = table.indexes.find(({ name }) => name === index.name)
  // One that is not valid is dropped by the step that creates an index.
  return from?.valid ? { kind: 'replace index', table, from, index } : { kind: 'add index', table, index }
}

function foreignKeyChanges(kind: DatabaseKind, table: Table, to: ModelTable): Change[] {
  const known = new Map(table.foreignKeys.map((key) => [foreignKeyKey(key), key]))
  return to.foreignKeys.flatMap((foreignKey): Change[] => {
    const from = known.get(foreignKeyKey(foreignKey))
    if (!from) return [{ kind: 'add foreign key', table, foreignKey }]
    if (!hasSameActions(kind, from, foreignKey))
      return [{ kind: 'replace foreign key', table, from, foreignKey: withOwnActions(from, foreignKey) }]
    return from.validated ? [] : [{ kind: 'validate foreign key', table, foreignKey: from }]
  })
}

function hasSameActions(kind: DatabaseKind, from: ForeignKey, to: ModelForeignKey): boolean {
  // On MySQL and MariaDB the two are one; elsewhere they differ only for a key that is checked later.
  const action = (text: string) =>
    text === 'NO ACTION' && kind !== 'postgres' && kind !== 'sqlite' ? 'RESTRICT' : text
  return (
    (!to.states.onDelete || action(from.onDelete) === action(to.onDelete)) &&
    (!to.states.onUpdate || action(from.onUpdate) === action(to.onUpdate)) &&
    (to.deferrable === undefined || from.deferrable === to.deferrable)
  )
}

/** The key with the actions of the database that the model leaves open. */
function withOwnActions(from: ForeignKey, to: ModelForeignKey): ForeignKey {
  const { onDelete, onUpdate } = to.states
  return { ...to, ...(onDelete ? {} : { onDelete: from.onDelete }), ...(onUpdate ? {} : { onUpdate: from.onUpdate }) }
}
