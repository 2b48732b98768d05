import type { Catalog, ForeignKey, Table } from '../../db/catalog/catalog.js'

/** The catalog of the models' tables, as Sequelize creates them. */
export interface ModelCatalog extends Catalog {
  readonly tables: readonly ModelTable[]
}

export interface ModelTable extends Table {
  /** The names of the models with this table: one, or several that share it. */
  readonly models: readonly string[]
  readonly foreignKeys: readonly ModelForeignKey[]
  /** The columns for which a model states a default, also one that only the program knows. */
  readonly filled: readonly string[]
  /** The values of its columns of the type ENUM, by their names, also where the database does not know them. */
  readonly enumValues?: Readonly<Record<string, readonly string[]>>
}

export interface ModelForeignKey extends ForeignKey {
  /** Which actions the model states. The others were chosen by Sequelize: a different one in the database is no difference. */
  readonly states: { readonly onDelete: boolean; readonly onUpdate: boolean }
}
