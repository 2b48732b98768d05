import type { Catalog, Column, EnumType, Table } from '../../db/catalog/catalog.js'
import type { ModelCatalog, ModelTable } from '../catalog/model-tables.js'
import { PlanError } from '../errors.js'
import { type Change, displayOf, displayOfColumn, isSameTable } from './change.js'
import { type Choices, dropsOf, refuseUnknownNews, type Rename, renamesOf } from './choices.js'
import { columnChanges, isNamedAs, isTypeOf } from './columns.js'
import { dropChanges, partDrops, refuseDropsOfModels } from './drops.js'
import { keyChanges } from './keys.js'
import { type PossibleRename, unclearColumns, unclearTables } from './possible-renames.js'
import { renamedCatalog } from './renamed.js'
import { hasSameValues } from './same.js'
import { unknownColumns, unknownIn, unknownKeys } from './unknown.js'

/** What leads from a database to the models. */
export interface Difference {
  readonly changes: readonly Change[]
  /** Columns of the models' tables that no model has, and that are not dropped. */
  readonly unknownColumns: readonly { readonly table: Table; readonly column: Column }[]
  /** Constraints and indexes that the models may have had, or that refuse rows, as `unique hero.hero_name_key`. They are not dropped. */
  readonly unknownKeys: readonly string[]
  /** What else the database has and no model names, those of `unknownKeys`, too, as `index hero.hero_age`, `table audit`. */
  readonly unknown: readonly string[]
  /** What may be a rename: people must say it. */
  readonly unclear: readonly PossibleRename[]
}

/**
 * The changes that lead from a database to the models, without questions: a column that only the database has is left alone, and one that only the models have
 * is new, whatever they have in common.
 *
 * @throws PlanError for choices that name what is not there.
 */
export function changes(from: Catalog, to: ModelCatalog, choices: Choices = {}): readonly Change[] {
  return difference(from, to, choices).changes
}

/** @throws PlanError for choices that name what is not there. */
export function difference(database: Catalog, to: ModelCatalog, choices: Choices = {}): Difference {
  const renames = renamesOf(database, choices.rename)
  refuseImpossibleRenames(database, to, renames)
  refuseUnknownNews(to, choices.new)
  const from = renamedCatalog(database, renames)
  const drops = dropsOf(from, choices.drop)
  refuseDropsOfModels(to, drops)
  const pairs = to.tables.map((table) => ({ table, old: from.tables.find((old) => isSameTable(old, table)) }))
  const created = pairs.filter(({ old }) => !old).map(({ table }) => table)
  const kept = pairs.flatMap(({ table, old }) => (old ? [{ table, old }] : []))
  const changes = [
    ...renames.map(renameChange),
    ...enumChanges(from, to),
    ...created.map((table): Change => ({ kind: 'create table', table })),
    ...kept.flatMap(({ table, old }) => tableChanges(from, old, table)),
    ...dropChanges(from, drops),
    ...partDrops(from, to, drops),
  ]
  return {
    changes: withoutRepeatedValues(changes),
    unknownColumns: kept.flatMap(({ table, old }) => unknownColumns(old, table, drops, choices)),
    unknownKeys: kept.flatMap(({ table, old }) =>
      unknownKeys(from.kind, old, table).flatMap(({ name, isNoted }) => (isNoted && !drops.has(name) ? [name] : [])),
    ),
    unknown: unknownIn(from, kept, drops),
    unclear: [
      ...kept.flatMap(({ table, old }) => unclearColumns(from, old, table, drops, choices)),
      ...unclearTables(from, to, created, drops, choices.new ?? []),
    ],
  }
}

function renameChange({ table, column, to }: Rename): Change {
  return column ? { kind: 'rename column', table, column, to } : { kind: 'rename table', table, to }
}

function refuseImpossibleRenames(from: Catalog, models: ModelCatalog, renames: readonly Rename[]): void {
  for (const { table, column, to } of renames) {
    const was = column ? displayOfColumn(table, column.name) : displayOf(table)
    const others = column ? table.columns : from.tables.filter(({ schema }) => schema === table.schema)
    if (others.some(({ name }) => name === to))
      throw new PlanError(`--rename ${was}:${to}: the database has a ${column ? 'column' : 'table'} ${to} already.`)
    const model = models.tables.find((one) => isSameTable(one, table))
    if (column && model && !model.columns.some(({ name }) => name === to))
      throw new PlanError(`--rename ${was}:${to}: ${model.models.join(', ')} has no column ${to}.`)
    if (!column && !models.tables.some(({ schema, name }) => name === to && schema === table.schema))
      throw new PlanError(`--rename ${was}:${to}: no model has a table ${to}.`)
  }
}

function tableChanges({ kind, enums }: Catalog, from: Table, to: ModelTable): Change[] {
  if (from.kind !== 'table') return [] // a model may read a view
  const { comment } = to
  const isCommented = comment !== undefined && comment !== from.comment
  return [
    ...(isCommented ? [{ kind: 'comment table' as const, table: from, comment }] : []),
    ...columnChanges(kind, from, to, enums),
    ...keyChanges(kind, from, to),
  ]
}

/** The enum types of new columns, and of columns that get another type: one whose values are a part of the old ones is a new type, too. */
function enumChanges(from: Catalog, to: ModelCatalog): Change[] {
  const isThere = ({ schema, name, values }: EnumType) =>
    from.enums.some((old) => old.name === name && old.schema === schema && hasSameValues(old.values, values))
  const isNew = (table: Table, column: Column) => {
    const old = from.tables.find((old) => isSameTable(old, table))?.columns.find(({ name }) => name === column.name)
    const losesValues = !old?.enumValues?.every((value) => column.enumValues?.includes(value))
    return (
      losesValues && (old === undefined || !to.enums.some((type) => isTypeOf(type, column) && isNamedAs(type, old)))
    )
  }
  const wanted = to.enums.filter((type) =>
    to.tables.some((table) => table.columns.some((column) => isNew(table, column) && isTypeOf(type, column))),
  )
  return wanted.filter((type) => !isThere(type)).map((type): Change => ({ kind: 'create enum', type }))
}

/** A type of several columns gets a value once. */
function withoutRepeatedValues(changes: readonly Change[]): Change[] {
  const seen = new Set<string>()
  return changes.filter((change) => {
    if (change.kind !== 'add enum value') return true
    const key = JSON.stringify([displayOf(change.type), change.value])
    return seen.has(key) ? false : seen.add(key)
  })
}
