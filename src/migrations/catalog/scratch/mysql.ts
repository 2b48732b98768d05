import { randomBytes } from 'node:crypto'
import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type { Catalog } from '../../../db/catalog/catalog.js'
import { readCatalog } from '../../../db/catalog/read-catalog.js'
import { DatabaseStartError } from '../../../db/errors.js'
import { queryGeneratorOf } from '../../../db/sequelize/internals.js'
import { createStatements } from '../create-statements.js'
import type { TableDefinition } from '../table-definition.js'
import { creationError, messageOf } from './creation-error.js'
import { inOrder } from './in-order.js'
import { inOneStatement } from './one-statement.js'

/*
 * The tables are created in a database of their own, by one connection, which returns to its database afterwards. A transaction only keeps the connection:
 * DDL commits there.
 */

const MAX_NAME = 64

/** Creates and reads the tables; those of the catalog are in the order of the definitions. */
export async function mysqlCatalogOf(sequelize: Sequelize, tables: readonly TableDefinition[]): Promise<Catalog> {
  const catalog = await within(sequelize, (scratch) => scratch.read(tables))
  return inOrder(catalog, tables)
}

/** Works in such a database. @param work gets the transaction of the connection, and the name of the database where the program's tables are. */
export function inScratchDatabase<T>(
  sequelize: Sequelize,
  work: (transaction: Transaction, database: string) => Promise<T>,
): Promise<T> {
  return within(sequelize, (scratch, transaction) => work(transaction, scratch.of))
}

async function within<T>(
  sequelize: Sequelize,
  work: (scratch: ScratchDatabase, transaction: Transaction) => Promise<T>,
): Promise<T> {
  const transaction = await sequelize.transaction()
  const scratch = new ScratchDatabase(sequelize, transaction)
  try {
    return await openAndClose(scratch, () => work(scratch, transaction))
  } finally {
    await transaction.rollback().catch(() => {})
  }
}

async function openAndClose<T>(scratch: ScratchDatabase, work: () => Promise<T>): Promise<T> {
  try {
    await scratch.open()
    const result = await work()
    await scratch.close()
    return result
  } catch (error) {
    // What has failed first is the reason.
    await scratch.close().catch(() => {})
    throw error
  }
}

interface Session {
  readonly name: string
  readonly collation: string
  readonly checks: unknown
}

class ScratchDatabase {
  readonly #sequelize: Sequelize
  readonly #transaction: Transaction
  #before: Session | undefined
  #name: string | undefined

  constructor(sequelize: Sequelize, transaction: Transaction) {
    this.#sequelize = sequelize
    this.#transaction = transaction
  }

  /** The name of the database that it is the scratch one of. */
  get of(): string {
    return this.#before?.name ?? ''
  }

  async open(): Promise<void> {
    const [before] = await this.#sequelize.query<Session>(
      'SELECT DATABASE() AS name, @@collation_database AS collation, @@SESSION.foreign_key_checks AS checks',
      { type: QueryTypes.SELECT, transaction: this.#transaction },
    )
    if (!before) return
    const name = scratchName(before.name)
    await this.#create(name, before)
    this.#name = name
    this.#before = before
    await this.#send(`USE ${this.#quoted(name)}`)
    // Tables may refer to each other, and to tables of no model, which are not here.
    await this.#send('SET SESSION foreign_key_checks = 0')
  }

  async #create(name: string, { collation }: Session): Promise<void> {
    const [charset = 'utf8mb4'] = collation.split('_', 1)
    try {
      await this.#send(`CREATE DATABASE ${this.#quoted(name)} CHARACTER SET ${charset} COLLATE ${collation}`)
    } catch (cause) {
      throw new DatabaseStartError(
        `Cannot create the database ${name}, in which the models' tables would be compared; it is dropped afterwards: ${messageOf(cause)}. ` +
          `The account needs: GRANT ALL ON \`${name.slice(0, -RANDOM.length)}%\`.* TO ...`,
        { cause },
      )
    }
  }

  async read(tables: readonly TableDefinition[]): Promise<Catalog> {
    for (const table of tables) await this.#createTable(table)
    return readCatalog(this.#sequelize, { transaction: this.#transaction })
  }

  async #createTable(table: TableDefinition): Promise<void> {
    try {
      for (const statement of await this.#statements(table)) await this.#send(statement)
    } catch (cause) {
      throw creationError(table, cause)
    }
  }

  async #statements(table: TableDefinition): Promise<readonly string[]> {
    const { name } = table.name
    return inOneStatement(await createStatements(this.#sequelize, table, name, { withForeignKeys: true }), {
      quoted: this.#quoted(name),
      columns: Object.keys(table.attributes),
      indexes: table.indexes.map((index) => index.name ?? ''),
    })
  }

  async close(): Promise<void> {
    await this.#drop()
    if (!this.#before) return
    await this.#send(`USE ${this.#quoted(this.#before.name)}`)
    await this.#send(`SET SESSION foreign_key_checks = ${Number(this.#before.checks)}`)
  }

  async #drop(): Promise<void> {
    if (this.#name === undefined) return
    const statement = `DROP DATABASE IF EXISTS ${this.#quoted(this.#name)}`
    // If the connection is lost, by another one.
    await this.#send(statement).catch(() => this.#sequelize.query(statement, { transaction: null }))
    this.#name = undefined
  }

  #quoted(name: string): string {
    return queryGeneratorOf(this.#sequelize).quoteIdentifier(name)
  }

  async #send(statement: string): Promise<void> {
    await this.#sequelize.query(statement, { transaction: this.#transaction })
  }
}

const RANDOM = 'xxxxxxxxxxxx'

function scratchName(database: string): string {
  const end = `_scratch_${randomBytes(RANDOM.length / 2).toString('hex')}`
  return `${database.slice(0, MAX_NAME - end.length)}${end}`
}
