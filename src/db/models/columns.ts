import { DataTypes, type Model, type ModelAttributeColumnOptions, type ModelOptions, type ModelStatic } from 'sequelize'
import { getAttributes, getOptions } from 'sequelize-typescript'

export interface Column extends ModelAttributeColumnOptions {
  /** Sequelize itself writes it: when a row was made, changed or deleted, and how often. */
  readonly kept?: boolean
  /** It is there although the class does not say so. */
  readonly implied?: boolean
}

export type Columns = Readonly<Record<string, Column>>

/**
 * The columns of a model, those that Sequelize adds as well. Of a class of sequelize-typescript they are told by its decorators, before
 * and after it meets its database alike.
 */
export function columnsOf(model: ModelStatic<Model>): Columns {
  const declared = getAttributes(model.prototype) as Columns | undefined
  const { rawAttributes = {}, options } = model as { rawAttributes?: Columns; options?: ModelOptions }
  const all = options ?? getOptions(model.prototype) ?? {}
  const kept = keptBy(all)
  const columns = declared ? withImplied(declared, kept, all) : rawAttributes
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, kept.has(name) ? { ...column, kept: true } : column]),
  )
}

const KEY: Column = {
  type: DataTypes.INTEGER,
  allowNull: false,
  primaryKey: true,
  autoIncrement: true,
  implied: true,
}

function withImplied(declared: Columns, kept: ReadonlyMap<string, Column>, options: ModelOptions): Columns {
  const hasKey = Object.values(declared).some(({ primaryKey }) => primaryKey)
  // @CreatedAt declare born: Date
  const named = new Set<unknown>(KEPT.map((option) => options[option]))
  const added = [...kept]
    .filter(([name]) => !(name in declared))
    .map(([name, column]) => [name, named.has(name) ? column : { ...column, implied: true }] as const)
  return { ...(hasKey ? {} : { id: KEY }), ...declared, ...Object.fromEntries(added) }
}

const KEPT = ['createdAt', 'updatedAt', 'deletedAt', 'version'] as const

/** The columns that Sequelize writes by itself, by their names. */
function keptBy(options: ModelOptions): ReadonlyMap<string, Column> {
  const { timestamps = true, paranoid = false } = options
  const needed = { createdAt: timestamps, updatedAt: timestamps, deletedAt: timestamps && paranoid, version: false }
  return new Map(
    KEPT.flatMap((option): [string, Column][] => {
      const given = options[option] ?? needed[option]
      if (given === false || (option !== 'version' && !needed[option])) return []
      return [[typeof given === 'string' ? given : option, TYPES[option]]]
    }),
  )
}

const TYPES: Readonly<Record<(typeof KEPT)[number], Column>> = {
  createdAt: { type: DataTypes.DATE, allowNull: false },
  updatedAt: { type: DataTypes.DATE, allowNull: false },
  deletedAt: { type: DataTypes.DATE },
  version: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
}
