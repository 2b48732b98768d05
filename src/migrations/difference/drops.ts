import type { Catalog, Column, Table, TableName } from '../../db/catalog/catalog.js'
import type { ModelCatalog } from '../catalog/model-tables.js'
import { PlanError } from '../errors.js'
import { type Change, displayOf, displayOfColumn, displayOfPart, type DroppablePart, isSameTable } from './change.js'
import { displayOfKey, type Drop } from './choices.js'
import { columnAfter, droppableParts, withoutParts, withUseless } from './column-parts.js'

export function refuseDropsOfModels(to: ModelCatalog, drops: ReadonlyMap<string, Drop>): void {
  for (const table of to.tables) {
    if (drops.has(displayOf(table)))
      throw new PlanError(
        `--drop ${displayOf(table)}: it is the table of ${table.models.join(', ')}. Leave that out of the models first.`,
      )
    for (const { name } of table.columns)
      if (drops.get(displayOfColumn(table, name))?.kind === 'column')
        throw new PlanError(
          `--drop ${displayOfColumn(table, name)}: it is a column of ${table.models.join(', ')}. Leave it out there first.`,
        )
    for (const column of table.columns)
      for (const part of statedParts(column))
        if (isPartDropped(drops, table, column, part))
          throw new PlanError(
            `--drop ${displayOfPart(table, column.name, part)}: it is stated by ${table.models.join(', ')}.`,
          )
  }
}

function statedParts(column: Column): DroppablePart[] {
  return [
    ...(column.default === undefined ? [] : ['default' as const]),
    ...(column.nullable ? [] : ['nullable' as const]),
  ]
}

function isPartDropped(
  drops: ReadonlyMap<string, Drop>,
  table: TableName,
  column: Column,
  part: DroppablePart,
): boolean {
  return drops.get(displayOfPart(table, column.name, part))?.kind === part
}

/** Of columns that stay. */
export function partDrops({ kind, tables }: Catalog, models: ModelCatalog, drops: ReadonlyMap<string, Drop>): Change[] {
  const left = tables.filter((table) => !drops.has(displayOf(table)))
  return left.flatMap((table) => {
    const model = models.tables.find((one) => isSameTable(one, table))
    return table.columns.flatMap((old): Change[] => {
      const named = droppableParts(table, old).filter((part) => isPartDropped(drops, table, old, part))
      if (named.length === 0 || drops.get(displayOfColumn(table, old.name))?.kind === 'column') return []
      const wanted = model?.columns.find(({ name }) => name === old.name)
      const parts = model && wanted ? withUseless(named, table, old, model, wanted) : named
      const from = model && wanted ? columnAfter(kind, table, old, model, wanted) : old
      return [{ kind: 'drop column parts', table, from, to: withoutParts(from, parts), parts }]
    })
  })
}

export function dropChanges({ tables, enums }: Catalog, drops: ReadonlyMap<string, Drop>): Change[] {
  const isDropped = (kind: Drop['kind'], name: string) => drops.get(name)?.kind === kind
  const dropped = <T extends Table['indexes'][number] | Table['uniques'][number]>(
    table: Table,
    kind: Drop['kind'],
    items: readonly T[],
  ) => items.filter((item) => drops.has(`${kind} ${displayOfKey(table, item)}`))
  return [
    // Those of other tables, too, before an index that they need.
    ...tables.flatMap((table) =>
      dropped(table, 'foreign key', table.foreignKeys).map((foreignKey): Change => ({
        kind: 'drop foreign key',
        table,
        foreignKey,
      })),
    ),
    ...tables.flatMap((table): Change[] => [
      ...dropped(table, 'unique', table.uniques).map((unique): Change => ({ kind: 'drop unique', table, unique })),
      ...dropped(table, 'index', table.indexes).map((index): Change => ({ kind: 'drop index', table, index })),
      ...table.columns
        .filter(({ name }) => isDropped('column', displayOfColumn(table, name)))
        .map((column): Change => ({ kind: 'drop column', table, column })),
      ...(isDropped('table', displayOf(table)) ? [{ kind: 'drop table' as const, table }] : []),
    ]),
    ...enums.filter((type) => isDropped('enum', displayOf(type))).map((type): Change => ({ kind: 'drop enum', type })),
  ]
}
