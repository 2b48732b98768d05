import { Model, type ModelStatic } from 'sequelize'
import { modelOf } from '../sequelize/internals.js'

/** A change that was queued and is not written yet. */
export interface PendingChange {
  readonly kind: 'save' | 'delete'
  readonly instance: Model
}

/**
 * The changes in an order that foreign keys allow. Of consecutive additions, rows that others refer to come first; of consecutive deletions, last.
 * Additions and deletions are not mixed, so that in one flush a row with a unique name can be deleted and another one added with the same name.
 */
export function inForeignKeyOrder(changes: readonly PendingChange[]): readonly PendingChange[] {
  if (changes.length < 2) return changes
  return runsOf(changes).flatMap((run) =>
    run[0]?.kind === 'save' ? referredFirst(run) : referredFirst(run.toReversed()).toReversed(),
  )
}

function runsOf(changes: readonly PendingChange[]): PendingChange[][] {
  const runs: PendingChange[][] = []
  for (const change of changes) {
    const last = runs.at(-1)
    if (last?.[0]?.kind === change.kind) last.push(change)
    else runs.push([change])
  }
  return runs
}

/** Orders by tables, then by the rows whose keys are known: a table may refer to itself, and tables to each other. */
function referredFirst(run: readonly PendingChange[]): PendingChange[] {
  const ranks = ranksOf(new Set(run.map(({ instance }) => modelOf(instance))))
  const byTable = run.toSorted((a, b) => (ranks.get(modelOf(a.instance)) ?? 0) - (ranks.get(modelOf(b.instance)) ?? 0))
  const byKey = new Map(byTable.flatMap((change) => keysOf(change.instance).map((key) => [key, change])))
  return afterDependencies(byTable, ({ instance }) => referencesOf(instance).flatMap((key) => byKey.get(key) ?? []))
}

function ranksOf(models: ReadonlySet<ModelStatic<Model>>): ReadonlyMap<ModelStatic<Model>, number> {
  const byTable = new Map([...models].map((model) => [tableOf(model), model]))
  const referredModels = (model: ModelStatic<Model>) =>
    foreignKeysOf(model).flatMap(({ table }) => byTable.get(table) ?? [])
  return new Map(afterDependencies([...models], referredModels).map((model, rank) => [model, rank]))
}

/** Each item after those that it depends on, otherwise in the given order. A cycle is cut at the item that is visited first. */
function afterDependencies<T>(items: readonly T[], dependenciesOf: (item: T) => readonly T[]): T[] {
  const ordered: T[] = []
  const visited = new Set<T>()
  const stack = items.toReversed().map((item) => ({ item, isReady: false }))
  for (let top = stack.pop(); top; top = stack.pop()) {
    const { item, isReady } = top
    if (isReady) ordered.push(item)
    if (isReady || visited.has(item)) continue
    visited.add(item)
    const dependencies = dependenciesOf(item).map((other) => ({ item: other, isReady: false }))
    stack.push({ item, isReady: true }, ...dependencies)
  }
  return ordered
}

interface ForeignKey {
  readonly attribute: string
  readonly table: string
  readonly column: string
}

function foreignKeysOf(model: ModelStatic<Model>): readonly ForeignKey[] {
  return Object.entries(model.getAttributes()).flatMap(([attribute, { references }]) => {
    if (references === undefined) return []
    if (typeof references === 'string') return [{ attribute, table: references, column: 'id' }]
    const { model: table, key = 'id' } = references
    return [{ attribute, table: tableName(table), column: key }]
  })
}

function keysOf(instance: Model): readonly string[] {
  const model = modelOf(instance)
  return model.primaryKeyAttributes.map((attribute) => {
    const column = model.getAttributes()[attribute]?.field ?? attribute
    return `${tableOf(model)}.${column}=${String(instance.getDataValue(attribute))}`
  })
}

function referencesOf(instance: Model): readonly string[] {
  return foreignKeysOf(modelOf(instance)).flatMap(({ attribute, table, column }) => {
    const value: unknown = instance.getDataValue(attribute)
    return value === undefined || value === null ? [] : [`${table}.${column}=${String(value)}`]
  })
}

function tableOf(model: ModelStatic<Model>): string {
  return tableName(model.getTableName())
}

function tableName(table: unknown): string {
  if (isModel(table)) return tableOf(table)
  return typeof table === 'object' && table !== null && 'tableName' in table ? String(table.tableName) : String(table)
}

function isModel(table: unknown): table is ModelStatic<Model> {
  return typeof table === 'function' && table.prototype instanceof Model
}
