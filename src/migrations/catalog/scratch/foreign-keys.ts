import type { Model, ModelAttributeColumnOptions, ModelStatic, Sequelize } from 'sequelize'
import type { TableName } from '../../../db/catalog/catalog.js'
import { queryGeneratorOf } from '../../../db/sequelize/internals.js'
import { type AssociationKey, keysOf } from '../association-keys.js'
import type { TableDefinition } from '../table-definition.js'
import type { ScratchSchemas } from './scratch-schemas.js'

/*
 * Foreign keys are added when all tables exist, because tables may refer to each other. A key that refers to a table of no model gets a stub in its place:
 * one to the real table would lock it.
 */

interface KeyToAdd {
  readonly definition: TableDefinition
  readonly column: string
  readonly attribute: ModelAttributeColumnOptions
  readonly target: TableName
  readonly targetColumn: string
}

/** @returns the statements for each table: stubs first. */
export function foreignKeyStatements(
  sequelize: Sequelize,
  tables: readonly TableDefinition[],
  schemas: ScratchSchemas,
): { readonly stubs: readonly string[]; of(definition: TableDefinition): readonly string[] } {
  const associated = Object.values(sequelize.models).flatMap((model) =>
    Object.values(model.associations).flatMap(keysOf),
  )
  const keys = tables.flatMap((definition) => keysToAdd(definition, { tables, schemas, associated }))
  const isOfModel = ({ target }: KeyToAdd) => tables.some(({ name }) => schemas.isSame(name, target))
  const writer = new KeyWriter(sequelize, schemas)
  return {
    stubs: writer.stubs(keys.filter((key) => !isOfModel(key))),
    of: (definition) => keys.filter((key) => key.definition === definition).map((key) => writer.add(key)),
  }
}

interface Known {
  readonly tables: readonly TableDefinition[]
  readonly schemas: ScratchSchemas
  readonly associated: readonly AssociationKey[]
}

function keysToAdd(definition: TableDefinition, known: Known): KeyToAdd[] {
  return Object.entries(definition.attributes).flatMap(([column, attribute]) => {
    const { references } = attribute
    if (!references) return []
    const { model, key: targetColumn = 'id' } = typeof references === 'string' ? { model: references } : references
    if (!model) return []
    const target = targetOf(model, column, definition, known)
    return { definition, column, attribute, target, targetColumn }
  })
}

/** Sequelize looks for a name without a schema in the schema of the table; a model without a schema may be meant, as by its association. */
function targetOf(
  model: string | object,
  column: string,
  definition: TableDefinition,
  { tables, schemas, associated }: Known,
): TableName {
  if (typeof model === 'object') return nameOfObject(model)
  const { schema } = definition.name
  const beside = schema === undefined ? { name: model } : { schema, name: model }
  const exists = (target: TableName) => tables.some(({ name }) => schemas.isSame(name, target))
  const isMeant = associated.some(
    ({ owner, key, target }) =>
      definition.models.includes(owner) && fieldOf(owner, key) === column && target.getTableName() === model,
  )
  return !isMeant && (exists(beside) || !exists({ name: model })) ? beside : { name: model }
}

function fieldOf(model: ModelStatic<Model>, attribute: string): string {
  return model.getAttributes()[attribute]?.field ?? attribute
}

interface NameObject {
  readonly tableName?: string
  readonly schema?: string
  getTableName?(): string | NameObject
}

function nameOfObject(model: NameObject): TableName {
  const name = model.getTableName?.() ?? model
  if (typeof name === 'string') return { name }
  return name.schema ? { schema: name.schema, name: name.tableName ?? '' } : { name: name.tableName ?? '' }
}

class KeyWriter {
  readonly #sequelize: Sequelize
  readonly #schemas: ScratchSchemas

  constructor(sequelize: Sequelize, schemas: ScratchSchemas) {
    this.#sequelize = sequelize
    this.#schemas = schemas
  }

  get #generator() {
    return queryGeneratorOf(this.#sequelize)
  }

  #scratchTable(table: TableName): { readonly tableName: string; readonly schema: string; readonly delimiter: '.' } {
    const { schema, name } = this.#schemas.of(table)
    return { tableName: name, schema, delimiter: '.' }
  }

  add({ definition, column, attribute, target, targetColumn }: KeyToAdd): string {
    const generator = this.#generator
    const table = this.#scratchTable(definition.name)
    const plain = { ...attribute, comment: undefined, references: undefined }
    const full = {
      ...plain,
      references: { ...deferrableOf(attribute), model: this.#scratchTable(target), key: targetColumn },
    }
    const definitionOf = (one: object) => generator.attributeToSQL(one, { table, context: 'createTable', key: column })
    const clause = definitionOf(full).slice(definitionOf(plain).length)
    return `ALTER TABLE ${generator.quoteTable(table)} ADD FOREIGN KEY (${generator.quoteIdentifier(column)})${clause}`
  }

  stubs(keys: readonly KeyToAdd[]): string[] {
    const tables = new Map<string, Map<string, string>>()
    for (const { target, targetColumn, attribute } of keys) {
      const name = this.#generator.quoteTable(this.#scratchTable(target))
      const columns = tables.get(name) ?? new Map<string, string>()
      const type = this.#generator.attributeToSQL({ type: attribute.type }, { context: 'createTable' })
      tables.set(name, columns.set(this.#generator.quoteIdentifier(targetColumn), type))
    }
    return [...tables].map(([table, columns]) => {
      const definitions = [...columns].map(([column, type]) => `${column} ${type} UNIQUE`)
      return `CREATE TABLE ${table} (${definitions.join(', ')})`
    })
  }
}

function deferrableOf({ references }: ModelAttributeColumnOptions): object {
  return typeof references === 'object' ? references : {}
}
