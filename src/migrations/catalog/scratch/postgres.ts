import { DatabaseError, QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type { Catalog } from '../../../db/catalog/catalog.js'
import { readCatalog } from '../../../db/catalog/read-catalog.js'
import { DatabaseStartError } from '../../../db/errors.js'
import { createStatements } from '../create-statements.js'
import type { TableDefinition } from '../table-definition.js'
import { creationError, messageOf } from './creation-error.js'
import { foreignKeyStatements } from './foreign-keys.js'
import { restoreNames } from './restore-names.js'
import { ScratchSchemas } from './scratch-schemas.js'

/*
 * The tables are created in schemas of a transaction that is rolled back. The names of those schemas are replaced in what is read, so that the catalog
 * is that of tables in the schemas of the models.
 */

/** Creates and reads the tables; those of the catalog are in the order of the definitions. */
export async function postgresCatalogOf(sequelize: Sequelize, tables: readonly TableDefinition[]): Promise<Catalog> {
  try {
    return await inRolledBack(sequelize, (scratch) => scratch.read(tables, (sql) => scratch.sendTogether(sql)))
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    // Of many statements in one message, it is not known which one has failed.
    return inRolledBack(sequelize, (scratch) => scratch.read(tables, (sql) => scratch.sendEach(sql)))
  }
}

async function inRolledBack<R>(sequelize: Sequelize, work: (scratch: Scratch) => Promise<R>): Promise<R> {
  const transaction = await sequelize.transaction()
  try {
    return await work(new Scratch(sequelize, transaction))
  } finally {
    // The server rolls back what a lost connection has left.
    await transaction.rollback().catch(() => {})
  }
}

/** The statements of one table. */
interface Creation {
  readonly table: TableDefinition
  readonly statements: readonly string[]
}

interface Creations {
  readonly schemas: readonly string[]
  readonly tables: readonly Creation[]
}

class Scratch {
  readonly #sequelize: Sequelize
  readonly #transaction: Transaction

  constructor(sequelize: Sequelize, transaction: Transaction) {
    this.#sequelize = sequelize
    this.#transaction = transaction
  }

  async read(tables: readonly TableDefinition[], send: (creations: Creations) => Promise<void>): Promise<Catalog> {
    const schemas = await this.#schemasOf(tables)
    await send(await creationsOf(this.#sequelize, tables, schemas))
    const only = tables.map(({ name }) => schemas.of(name))
    const catalog = await readCatalog(this.#sequelize, { only, transaction: this.#transaction })
    const ordered = only.flatMap(({ schema, name }) => {
      const own = schema === schemas.first ? undefined : schema
      return catalog.tables.find((table) => table.name === name && table.schema === own) ?? []
    })
    return restoreNames({ ...catalog, tables: ordered }, schemas)
  }

  async #schemasOf(tables: readonly TableDefinition[]): Promise<ScratchSchemas> {
    const names = [...new Set(tables.flatMap(({ name }) => name.schema ?? []))]
    const [row] = await this.#sequelize.query<{ readonly current: string | null; readonly quoted: readonly string[] }>(
      `SELECT current_schema() AS current, ARRAY(SELECT quote_ident(name)
       FROM json_array_elements_text(CAST($1 AS json)) WITH ORDINALITY AS s (name, place) ORDER BY place) AS quoted`,
      { bind: [JSON.stringify(names)], type: QueryTypes.SELECT, transaction: this.#transaction },
    )
    const others = names.map((name, index) => ({ name, quoted: row?.quoted[index] ?? name }))
    return new ScratchSchemas(row?.current ?? null, others)
  }

  async sendTogether({ schemas, tables }: Creations): Promise<void> {
    await this.#send([...schemas, ...tables.flatMap(({ statements }) => statements)])
  }

  async sendEach({ schemas, tables }: Creations): Promise<void> {
    await this.#send(schemas).catch((cause: unknown) => {
      throw new DatabaseStartError(
        `Cannot create a schema, in which the models' tables would be compared; it is rolled back afterwards: ${messageOf(cause)}. ` +
          `The role needs: GRANT CREATE ON DATABASE ... TO ...`,
        { cause },
      )
    })
    for (const { table, statements } of tables)
      for (const statement of statements)
        await this.#send([statement]).catch((cause: unknown) => {
          throw creationError(table, cause)
        })
  }

  async #send(statements: readonly string[]): Promise<void> {
    await this.#sequelize.query(statements.join(';\n'), { transaction: this.#transaction })
  }
}

async function creationsOf(
  sequelize: Sequelize,
  tables: readonly TableDefinition[],
  schemas: ScratchSchemas,
): Promise<Creations> {
  const keys = foreignKeyStatements(sequelize, tables, schemas)
  const created: Creation[] = []
  for (const table of tables) {
    const { schema, name } = schemas.of(table.name)
    const place = { tableName: name, schema, delimiter: '.' }
    created.push({ table, statements: await statementsOf(sequelize, table, place) })
  }
  const path = `SELECT set_config('search_path', concat_ws(', ', '${schemas.first}', nullif(current_setting('search_path'), '')), true)`
  return {
    schemas: [...schemas.statements, path, ...keys.stubs],
    tables: [...created, ...tables.map((table) => ({ table, statements: keys.of(table) }))],
  }
}

async function statementsOf(sequelize: Sequelize, table: TableDefinition, place: object): Promise<readonly string[]> {
  try {
    return await createStatements(sequelize, table, place, { withForeignKeys: false })
  } catch (cause) {
    throw creationError(table, cause)
  }
}
