import type { Catalog } from '../../../db/catalog/catalog.js'
import type { TableDefinition } from '../table-definition.js'

/** @returns the catalog with the tables in the order of the definitions. */
export function inOrder(catalog: Catalog, definitions: readonly TableDefinition[]): Catalog {
  const tables = definitions.flatMap(({ name }) => catalog.tables.find((table) => table.name === name.name) ?? [])
  return { ...catalog, tables }
}
