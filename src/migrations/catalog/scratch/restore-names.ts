import type { Catalog, Column, EnumType, Index, Table, TableName } from '../../../db/catalog/catalog.js'
import type { ScratchSchema, ScratchSchemas } from './scratch-schemas.js'

/** @returns the catalog of the scratch schemas, with the names of the schemas that they stand for; without what is in others. */
export function restoreNames({ kind, tables, enums }: Catalog, { all, current }: ScratchSchemas): Catalog {
  const names = new Names(all)
  return {
    kind,
    ...(current === null ? {} : { schema: current }),
    tables: tables.filter((table) => names.isScratch(table)).map((table) => names.table(table)),
    enums: enums.filter((type) => names.isScratch(type)).map((type) => names.name(type)),
  }
}

class Names {
  readonly #schemas: readonly ScratchSchema[]

  constructor(schemas: readonly ScratchSchema[]) {
    this.#schemas = schemas
  }

  /** The first scratch schema is the current one, which is left out. */
  isScratch({ schema }: TableName): boolean {
    return schema === undefined || this.#schemas.some(({ scratch }) => scratch === schema)
  }

  name<T extends Table | EnumType | TableName>(named: T): T {
    const found = this.#schemas.find(({ scratch }) => scratch === named.schema)
    return found?.schema === undefined ? named : { ...named, schema: found.schema }
  }

  /** In SQL that the server has written. */
  #text(sql: string): string {
    return this.#schemas.reduce(
      (text, { scratch, quoted }) => text.replaceAll(`${scratch}.`, quoted === '' ? '' : `${quoted}.`),
      sql,
    )
  }

  table(table: Table): Table {
    return {
      ...this.name(table),
      columns: table.columns.map((column) => this.#column(column)),
      foreignKeys: table.foreignKeys.map((key) => ({ ...key, table: this.name(key.table) })),
      indexes: table.indexes.map((index) => this.#index(index)),
    }
  }

  #column(column: Column): Column {
    const { type, default: value, sequence, generated } = column
    return {
      ...column,
      type: this.#text(type),
      ...(value === undefined ? {} : { default: this.#text(value) }),
      ...(sequence === undefined ? {} : { sequence: this.#text(sequence) }),
      ...(generated ? { generated: { ...generated, expression: this.#text(generated.expression) } } : {}),
    }
  }

  #index(index: Index): Index {
    const { where, columns } = index
    return {
      ...index,
      ...(where === undefined ? {} : { where: this.#text(where) }),
      columns: columns.map((part) =>
        part.expression === undefined ? part : { ...part, expression: this.#text(part.expression) },
      ),
    }
  }
}
