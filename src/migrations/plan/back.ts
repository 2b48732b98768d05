import type { Index } from '../../db/catalog/catalog.js'
import { type Change, displayOf, displayOfColumn } from '../difference/change.js'
import { renamedCatalog, renamesIn } from '../difference/renamed.js'
import type { DatabaseKind } from '../../db/catalog/catalog.js'
import { copiedTables } from './mysql/tried-steps.js'
import { type PlanOptions, plan } from './plan.js'
import type { PlannedFile } from './planned.js'
import { typeChange } from './type-change.js'

/** The way back of a migration. */
export interface PlannedBack {
  /** Undefined if no change has a way back. */
  readonly file: PlannedFile | undefined
  /** What has none, because it would delete values: `hero.power`. */
  readonly left: readonly string[]
}

/** The way back of what `files` do, where it loses nothing. */
export async function planBack(options: PlanOptions, files: readonly PlannedFile[]): Promise<PlannedBack> {
  const { kind } = options.database
  const found = options.changes.map((change) => wayBack(kind, change))
  const changes = found.flatMap((back) => (typeof back === 'string' ? [] : back)).toReversed()
  const forward = files.flatMap(({ steps }) => steps).map(({ code }) => code.sql)
  const stepsFor = async (some: readonly Change[]) => {
    const planned = await plan({
      ...options,
      choices: {},
      further: [],
      database: renamedCatalog(options.database, renamesIn(options.changes)),
      changes: some,
      // Nothing can be counted in tables as they will be.
      facts: {
        count: () => Promise.resolve(0),
        names: () => Promise.resolve([]),
        rows: () => Promise.resolve(undefined),
        simulate: (statements) => options.facts.simulate([...forward, ...statements]),
        failuresAfter: (statements) => options.facts.failuresAfter([...forward, ...statements]),
        refusalOf: () => Promise.resolve(undefined),
        async tryStatements(_, ways) {
          const before = forward.map((sql) => [sql])
          const tables = copiedTables(options.database, options.changes)
          return (await options.facts.tryStatements(tables, [...before, ...ways]))?.slice(before.length)
        },
      },
    })
    return planned.flatMap(({ steps }) => steps)
  }
  // Renames come last: the other changes have the new names.
  const isRename = ({ kind: name }: Change) => name.startsWith('rename ')
  const all = [
    ...(await stepsFor(changes.filter((change) => !isRename(change)))),
    ...(await stepsFor(changes.filter(isRename))),
  ]
  return {
    file: all.length === 0 ? undefined : { contract: false, steps: all },
    left: found.filter((back) => typeof back === 'string'),
  }
}

/** The changes that undo one, or the name of what would be lost. */
function wayBack(kind: DatabaseKind, change: Change): readonly Change[] | string {
  switch (change.kind) {
    case 'rename column': {
      const { table, column, to } = change
      return [{ kind: 'rename column', table, column: { ...column, name: to }, to: column.name }]
    }
    case 'rename table':
      return [{ kind: 'rename table', table: { ...change.table, name: change.to }, to: change.table.name }]
    case 'alter column':
      return alteredBack(kind, change)
    case 'add index':
      return [{ kind: 'drop index', table: change.table, index: change.index }]
    case 'replace index':
      return [
        {
          kind: 'replace index',
          table: change.table,
          from: change.index,
          index: { ...change.from, name: change.index.name },
        },
      ]
    case 'add unique':
      return kind === 'postgres'
        ? [{ kind: 'drop unique', table: change.table, unique: change.unique }]
        : [{ kind: 'drop index', table: change.table, index: indexOf(change) }]
    case 'add foreign key':
      return [{ kind: 'drop foreign key', table: change.table, foreignKey: change.foreignKey }]
    case 'replace foreign key':
      return [{ ...change, from: { ...change.foreignKey, ...nameOf(change.from) }, foreignKey: change.from }]
    case 'validate foreign key':
    case 'comment table':
      return []
    default:
      return lostBy(change)
  }
}

function nameOf({ name }: { readonly name?: string }) {
  return name === undefined ? {} : { name }
}

function alteredBack(
  kind: DatabaseKind,
  change: Extract<Change, { kind: 'alter column' }>,
): readonly Change[] | string {
  const { table, from, to, parts } = change
  const changesType = parts.includes('type') || parts.includes('values')
  if (changesType && typeChange(kind, to, from) === 'casts') return displayOfColumn(table, to.name)
  const undone = parts.filter((part) => part !== 'identity' && part !== 'sequence')
  return [{ ...change, from: to, to: { ...from, name: to.name }, parts: undone }]
}

// As the plan names it.
function indexOf({ table, unique: { columns } }: Extract<Change, { kind: 'add unique' }>): Index {
  const parts = columns.map((column) => ({ column, descending: false }))
  const name = `${table.name}_${columns.join('_')}_unique`
  return { name, unique: true, method: 'btree', columns: parts, include: [], valid: true }
}

function lostBy(change: Change): string {
  if (change.kind === 'add column' || change.kind === 'drop column')
    return displayOfColumn(change.table, change.column.name)
  if ('type' in change) return displayOf(change.type)
  return 'table' in change ? displayOf(change.table) : ''
}
