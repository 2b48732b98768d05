import { DataTypes, type Model, type ModelAttributeColumnOptions, type ModelOptions, type ModelStatic } from 'sequelize'
import { getAttributes, getOptions } from 'sequelize-typescript'

export interface Column extends ModelAttributeColumnOptions {
  /** Whether Sequelize writes it: createdAt, updatedAt, deletedAt or version. */
  readonly managed?: boolean
  /** Whether the column exists without a declaration in the class. */
  readonly implied?: boolean
}

export type Columns = Readonly<Record<string, Column>>

/**
 * The columns of a model, including those that Sequelize adds. For a class of sequelize-typescript they are read from its decorators, so that
 * the result is the same before and after the model is initialized.
 */
export function columnsOf(model: ModelStatic<Model>): Columns {
  const declared: Columns | undefined = getAttributes(model.prototype)
  const { rawAttributes = {}, options }: InitializedModel = model
  const all = options ?? getOptions(model.prototype) ?? {}
  const managed = managedColumns(all)
  const columns = declared ? withImplied(declared, managed, all) : rawAttributes
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, managed.has(name) ? { ...column, managed: true } : column]),
  )
}

/** Static members that a model has after it is initialized. */
interface InitializedModel {
  readonly rawAttributes?: Columns
  readonly options?: ModelOptions
}

const ID: Column = {
  type: DataTypes.INTEGER,
  allowNull: false,
  primaryKey: true,
  autoIncrement: true,
  implied: true,
}

function withImplied(declared: Columns, managed: ReadonlyMap<string, Column>, options: ModelOptions): Columns {
  const hasKey = Object.values(declared).some(({ primaryKey }) => primaryKey)
  // A column that the class names is not implied: `@CreatedAt declare born: Date`.
  const named = new Set<unknown>(MANAGED.map((option) => options[option]))
  const added = [...managed]
    .filter(([name]) => !(name in declared))
    .map(([name, column]) => [name, named.has(name) ? column : { ...column, implied: true }] as const)
  return { ...(hasKey ? {} : { id: ID }), ...declared, ...Object.fromEntries(added) }
}

const MANAGED = ['createdAt', 'updatedAt', 'deletedAt', 'version'] as const

/** The columns that Sequelize writes, by name. */
function managedColumns(options: ModelOptions): ReadonlyMap<string, Column> {
  const { timestamps = true, paranoid = false } = options
  const needed = { createdAt: timestamps, updatedAt: timestamps, deletedAt: timestamps && paranoid, version: false }
  return new Map(
    MANAGED.flatMap((option): [string, Column][] => {
      const given = options[option] ?? needed[option]
      if (given === false || (option !== 'version' && !needed[option])) return []
      return [[typeof given === 'string' ? given : option, MANAGED_COLUMNS[option]]]
    }),
  )
}

const MANAGED_COLUMNS: Readonly<Record<(typeof MANAGED)[number], Column>> = {
  createdAt: { type: DataTypes.DATE, allowNull: false },
  updatedAt: { type: DataTypes.DATE, allowNull: false },
  deletedAt: { type: DataTypes.DATE },
  version: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
}
