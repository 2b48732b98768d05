import type { Model, ModelStatic } from 'sequelize'
import { instanceInternals, modelOf } from '../sequelize/internals.js'

/** What a session still has to write. */
export interface PendingChange {
  readonly kind: 'save' | 'delete'
  readonly instance: Model
}

/**
 * The changes in an order that foreign keys allow: within a run of additions what others refer to comes first, within a run of
 * deletions last. Runs keep their places, so that a name can be freed and taken again in one flush.
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

/** By tables, and where keys are known by rows, as tables may refer to themselves and to each other in a circle. */
function referredFirst(run: readonly PendingChange[]): PendingChange[] {
  const ranks = ranksOf(new Set(run.map(({ instance }) => modelOf(instance))))
  const byTable = run.toSorted((a, b) => (ranks.get(modelOf(a.instance)) ?? 0) - (ranks.get(modelOf(b.instance)) ?? 0))
  const byKey = new Map(byTable.flatMap((change) => keysOf(change.instance).map((key) => [key, change])))
  return afterThose(byTable, ({ instance }) => referencesOf(instance).flatMap((key) => byKey.get(key) ?? []))
}

function ranksOf(models: ReadonlySet<ModelStatic<Model>>): ReadonlyMap<ModelStatic<Model>, number> {
  const byTable = new Map([...models].map((model) => [tableOf(model), model]))
  const referred = (model: ModelStatic<Model>) => foreignKeysOf(model).flatMap(({ table }) => byTable.get(table) ?? [])
  return new Map(afterThose([...models], referred).map((model, rank) => [model, rank]))
}

/** Each after what it depends on, otherwise in the given order; a circle is cut where it is met. */
function afterThose<T>(all: readonly T[], dependencies: (one: T) => readonly T[]): T[] {
  const [ordered, met] = [[] as T[], new Set<T>()]
  const stack = all.toReversed().map((one) => ({ one, isReady: false }))
  for (let top = stack.pop(); top; top = stack.pop()) {
    const { one, isReady } = top
    if (isReady) ordered.push(one)
    if (isReady || met.has(one)) continue
    met.add(one)
    stack.push({ one, isReady: true }, ...dependencies(one).map((other) => ({ one: other, isReady: false })))
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
    const { model: table, key = 'id' } = references as { model: unknown; key?: string }
    return [{ attribute, table: tableName(table), column: key }]
  })
}

function keysOf(instance: Model): readonly string[] {
  const model = modelOf(instance)
  return model.primaryKeyAttributes.map((attribute) => {
    const column = model.getAttributes()[attribute]?.field ?? attribute
    return `${tableOf(model)}.${column}=${String(instance.getDataValue(attribute as never))}`
  })
}

function referencesOf(instance: Model): readonly string[] {
  return foreignKeysOf(modelOf(instance)).flatMap(({ attribute, table, column }) => {
    const value: unknown = instance.getDataValue(attribute as never)
    return value === undefined || value === null ? [] : [`${table}.${column}=${String(value)}`]
  })
}

function tableOf(model: ModelStatic<Model>): string {
  return tableName(model.getTableName())
}

function tableName(table: unknown): string {
  if (typeof table === 'function') return tableOf(table as ModelStatic<Model>)
  return typeof table === 'object' && table !== null ? (table as { tableName: string }).tableName : String(table)
}

/**
 * Remembers what an instance is before it is written: a rolled-back savepoint takes the row away, and the instance must be written
 * again when it is added again. Returns what brings that back.
 */
export function rememberState(instance: Model): () => void {
  const state = instanceInternals(instance)
  const { isNewRecord, _previousDataValues, _changed } = state
  const [previous, changed] = [{ ..._previousDataValues }, [..._changed]]
  const key = state.constructor.autoIncrementAttribute
  const hadKey = key === undefined || (instance.getDataValue(key as never) ?? undefined) !== undefined
  return () => {
    state.isNewRecord = isNewRecord
    state._previousDataValues = previous
    for (const name of changed) state._changed.add(name)
    if (!hadKey) instance.setDataValue(key as never, null as never)
  }
}
