import type { Catalog, Table } from '../../db/catalog/catalog.js'
import type { ModelCatalog, ModelTable } from '../catalog/model-tables.js'
import { displayOf, displayOfColumn, isSameTable } from './change.js'
import type { Choices, Drop } from './choices.js'
import { hasSameType } from './same.js'
import { unknownColumns } from './unknown.js'

/** A column, or a table, that only the database has, with one that only the models have. */
export interface PossibleRename {
  readonly kind: 'column' | 'table'
  /** `hero.age` */
  readonly from: string
  /** `years` */
  readonly to: string
  /** `hero.years` */
  readonly toName: string
  /** `integer`; of a table its columns. */
  readonly type: string
}

export function unclearColumns(
  { kind }: Catalog,
  from: Table,
  to: ModelTable,
  drops: ReadonlyMap<string, Drop>,
  choices: Choices,
): PossibleRename[] {
  const { new: news = [] } = choices
  const old = new Set(from.columns.map(({ name }) => name))
  const added = to.columns.filter(({ name }) => !old.has(name) && !news.includes(displayOfColumn(to, name)))
  return unknownColumns(from, to, drops, choices).flatMap(({ column }) =>
    added
      .filter((candidate) => hasSameType(kind, column, candidate) && !column.generated && !candidate.generated)
      .map(({ name, type }): PossibleRename => ({
        kind: 'column',
        from: displayOfColumn(from, column.name),
        to: name,
        toName: displayOfColumn(to, name),
        type,
      })),
  )
}

/** Tables with the same columns. */
export function unclearTables(
  from: Catalog,
  to: ModelCatalog,
  created: readonly ModelTable[],
  drops: ReadonlyMap<string, Drop>,
  news: readonly string[],
): PossibleRename[] {
  const left = from.tables.filter(
    (table) => !to.tables.some((model) => isSameTable(model, table)) && !drops.has(displayOf(table)),
  )
  return created
    .filter((table) => !news.includes(displayOf(table)))
    .flatMap((table) =>
      left
        .filter((old) => old.schema === table.schema && hasSameColumns(from.kind, old, table))
        .map((old): PossibleRename => ({
          kind: 'table',
          from: displayOf(old),
          to: table.name,
          toName: displayOf(table),
          type: table.columns.map(({ name }) => name).join(', '),
        })),
    )
}

function hasSameColumns(kind: Catalog['kind'], { columns: one }: Table, { columns: other }: Table): boolean {
  return (
    one.length === other.length &&
    one.every((column) => other.some((same) => same.name === column.name && hasSameType(kind, column, same)))
  )
}
