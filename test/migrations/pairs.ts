import * as fc from 'fast-check'
import { DataTypes, type ModelAttributeColumnOptions } from 'sequelize'
import type { Choices } from '../../src/migrations/difference/choices.js'
import type { Models } from './leading.js'

/*
 * Random pairs of model sets, and the rows of the first.
 */

const TABLES = ['hero', 'team', 'two words', 'order'] as const
const COLUMNS = ['name', 'age', 'select', 'Capital', 'it is'] as const

/** The kinds of columns. Those of one family have values that all wider ones take. */
const TYPES = {
  short: { type: () => DataTypes.STRING(20), values: ['', 'Robin', `it's`, 'grün \\ "q"'] },
  long: { type: () => DataTypes.STRING(60), values: ['', 'x'.repeat(60)] },
  small: { type: () => DataTypes.INTEGER, values: [0, -7, 2_147_483_647] },
  big: { type: () => DataTypes.BIGINT, values: ['9007199254740993', '-1'] },
  decimal: { type: () => DataTypes.DECIMAL(10, 2), values: ['12.50', '-0.01'] },
  flag: { type: () => DataTypes.BOOLEAN, values: [true, false] },
  instant: { type: () => DataTypes.DATE(3), values: [new Date('2026-11-27T10:20:30.456Z')] },
  day: { type: () => DataTypes.DATEONLY, values: ['2026-11-27'] },
  state: { type: () => DataTypes.ENUM('new', 'old'), values: ['new', 'old'] },
  states: { type: () => DataTypes.ENUM('new', 'busy', 'old'), values: ['new', 'old'] },
  bytes: { type: () => DataTypes.BLOB, values: [Buffer.from([0, 255, 10])] },
} as const

export type TypeName = keyof typeof TYPES

/** To which types a column may go without --cast, besides its own. */
const WIDER: Readonly<Partial<Record<TypeName, readonly TypeName[]>>> = {
  short: ['long'],
  small: ['big'],
  state: ['states'],
}

export interface ColumnPlan {
  readonly name: string
  readonly type: TypeName
  readonly required: boolean
  readonly hasDefault: boolean
  readonly indexed: 'no' | 'index' | 'unique'
}

export interface TablePlan {
  readonly name: string
  readonly columns: readonly ColumnPlan[]
  /** The table that a column `owner` refers to. */
  readonly owner: string | undefined
  readonly onDelete: 'CASCADE' | 'SET NULL' | 'NO ACTION'
}

export interface Pair {
  readonly from: readonly TablePlan[]
  readonly to: readonly TablePlan[]
  readonly choices: Required<Pick<Choices, 'rename' | 'drop' | 'backfill'>>
  /** What becomes of columns that are kept: their names before and after, by the tables' names. */
  readonly kept: readonly {
    readonly from: string
    readonly to: string
    readonly columns: readonly (readonly [string, string])[]
  }[]
}

const column = (name: string) =>
  fc.record({
    name: fc.constant(name),
    type: fc.constantFrom(...(Object.keys(TYPES) as TypeName[])),
    required: fc.boolean(),
    hasDefault: fc.boolean(),
    indexed: fc.constantFrom('no' as const, 'no' as const, 'index' as const, 'unique' as const),
  })

const tablePlan = (name: string, tables: readonly string[]) =>
  fc.record({
    name: fc.constant(name),
    columns: fc.subarray([...COLUMNS]).chain((names) => fc.tuple(...names.map(column))),
    owner: fc.option(fc.constantFrom(...tables), { nil: undefined }),
    onDelete: fc.constantFrom('CASCADE' as const, 'SET NULL' as const, 'NO ACTION' as const),
  })

const models = fc
  .subarray([...TABLES], { minLength: 1 })
  .chain((names) => fc.tuple(...names.map((name) => tablePlan(name, names))))

/** What happens to a column of the first set. */
const fate = fc.constantFrom(
  'keep' as const,
  'keep' as const,
  'widen' as const,
  'rename' as const,
  'drop' as const,
  'leave' as const,
  'relax' as const,
)

/** A set of models, and what became of it: columns and tables are kept, renamed, dropped, left in the database, and new. */
export const pairs = fc
  .tuple(models, models, fc.infiniteStream(fate), fc.infiniteStream(fc.boolean()))
  .map(([from, other, fates, coins]): Pair =>
    evolve(
      from,
      other,
      () => fates.next().value,
      () => coins.next().value,
    ),
  )

function evolve(
  from: readonly TablePlan[],
  other: readonly TablePlan[],
  nextFate: () => 'keep' | 'widen' | 'rename' | 'drop' | 'leave' | 'relax',
  coin: () => boolean,
): Pair {
  const choices = { rename: [] as string[], drop: [] as string[], backfill: [] as string[] }
  const kept: { from: string; to: string; columns: [string, string][] }[] = []
  const to = from.map((table): TablePlan => {
    const columns: ColumnPlan[] = []
    const pairs: [string, string][] = [['id', 'id']]
    for (const before of table.columns) {
      const what = nextFate()
      const name = `${table.name}.${before.name}`
      if (what === 'drop') choices.drop.push(name)
      if (what === 'drop' || what === 'leave') continue
      const wider = WIDER[before.type] ?? []
      const type = what === 'widen' ? (wider[0] ?? before.type) : before.type
      const after = what === 'rename' ? `${before.name} 2` : before.name
      if (what === 'rename') choices.rename.push(`${name}:${after}`)
      if (what === 'relax' && takesDefault(before) && coin()) choices.drop.push(`${name}.default`)
      if (what === 'relax' && before.required && coin()) choices.drop.push(`${name}.not-null`)
      const required = what === 'relax' ? false : before.required
      const hasDefault = what === 'relax' ? !before.hasDefault : before.hasDefault
      columns.push({ ...before, name: after, type, required, hasDefault, indexed: coin() ? before.indexed : 'index' })
      pairs.push([before.name, after])
    }
    const added = other.find(({ name }) => name === table.name)
    for (const candidate of added?.columns ?? [])
      if (![...table.columns, ...columns].some(({ name }) => name === candidate.name)) {
        // Rows that are there would have the same value.
        columns.push({ ...candidate, indexed: candidate.indexed === 'unique' ? 'index' : candidate.indexed })
        if (candidate.required && !takesDefault(candidate))
          choices.backfill.push(`${table.name}.${candidate.name}=${literalOf(candidate.type)}`)
      }
    kept.push({ from: table.name, to: table.name, columns: pairs })
    const isSameOwner = coin()
    return {
      ...table,
      columns,
      owner: isSameOwner ? table.owner : undefined,
      onDelete: added?.onDelete ?? table.onDelete,
    }
  })
  const created = other.filter(({ name }) => !from.some((table) => table.name === name))
  const names = [...to, ...created].map(({ name }) => name)
  const withOwner = (table: TablePlan): TablePlan => ({
    ...table,
    owner: table.owner !== undefined && names.includes(table.owner) ? table.owner : undefined,
  })
  return { from, to: [...to, ...created.map(withOwner)], choices, kept }
}

function literalOf(type: TypeName): string {
  const [value] = TYPES[type].values
  if (value instanceof Date) return `'2026-11-27 10:20:30'`
  if (Buffer.isBuffer(value)) return `'x'`
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

/** The models of a set. */
export function modelsOf(tables: readonly TablePlan[]): Models {
  return (define) => {
    for (const { name, columns, owner, onDelete } of tables) {
      const attributes = Object.fromEntries(columns.map((one) => [one.name, attributeOf(one)]))
      const reference = { type: DataTypes.INTEGER, references: { model: owner ?? '', key: 'id' }, onDelete }
      define(
        name,
        {
          id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
          ...attributes,
          ...(owner === undefined ? {} : { owner: reference }),
        },
        {
          indexes: columns
            .filter(({ indexed, type }) => indexed === 'index' && type !== 'bytes')
            .map(({ name: field }) => ({ fields: [field], name: `i ${name} ${field}` })),
        },
      )
    }
  }
}

function attributeOf({ type, required, hasDefault, indexed }: ColumnPlan): ModelAttributeColumnOptions {
  const { type: dataType, values } = TYPES[type]
  return {
    type: dataType(),
    allowNull: !required,
    ...(takesDefault({ type, hasDefault }) ? { defaultValue: values[0] } : {}),
    ...(indexed === 'unique' && isKeyed(type) ? { unique: true } : {}),
  }
}

function takesDefault({ type, hasDefault }: Pick<ColumnPlan, 'type' | 'hasDefault'>): boolean {
  return hasDefault && type !== 'bytes' && type !== 'instant'
}

function isKeyed(type: TypeName): boolean {
  return type === 'short' || type === 'small'
}

/** Whether tables refer to each other in a circle. */
export function isCircle(tables: readonly TablePlan[]): boolean {
  const next = new Map(tables.map(({ name, owner }) => [name, owner === name ? undefined : owner]))
  return tables.some(({ name }) => {
    let at = next.get(name)
    for (let steps = 0; at !== undefined && at !== name && steps < tables.length; steps++) at = next.get(at)
    return at === name
  })
}

/** The rows of a table: each value of each type, and NULL where it may be. */
export function rowsOf({ columns, owner }: TablePlan): readonly Readonly<Record<string, unknown>>[] {
  return [0, 1, 2].map((row) => {
    const values = columns.map(({ name, type, required, indexed }) => {
      const all: readonly unknown[] = TYPES[type].values
      const isNull = !required && row === 2
      // Values of a unique column differ.
      const value = indexed === 'unique' && isKeyed(type) ? (type === 'short' ? `r${row}` : row) : all[row % all.length]
      return [name, isNull ? null : value] as const
    })
    return Object.fromEntries([...values, ...(owner === undefined ? [] : [['owner', null] as const])])
  })
}
