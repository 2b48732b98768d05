import { QueryTypes, type Sequelize } from 'sequelize'
import { sequelizeInternals } from '../sequelize/internals.js'
import type { SessionTransaction } from '../session/transaction/session-transaction.js'
import { sql } from '../statements/statement.js'

/** Makes the checks of COMMIT, without it. @throws the error that COMMIT would have. */
export type CommitCheck = () => Promise<void>

/** The check that COMMIT makes on this database, for savepoints of a transaction that has begun; undefined if it checks nothing. */
export async function commitCheckOf(
  transaction: SessionTransaction,
  sequelize: Sequelize,
): Promise<CommitCheck | undefined> {
  if (sequelize.getDialect() === 'postgres') return deferredConstraints(transaction)
  if (sequelize.getDialect() === 'sqlite') return foreignKeys(transaction, sequelize)
  return undefined
}

interface Constraint {
  readonly name: string
  readonly deferred: boolean
}

async function deferredConstraints(transaction: SessionTransaction): Promise<CommitCheck | undefined> {
  const constraints = await transaction.rows<Constraint>(sql`
    SELECT DISTINCT format('%I.%I', nspname, conname) AS name, condeferred AS deferred
    FROM pg_catalog.pg_constraint JOIN pg_catalog.pg_namespace ON pg_namespace.oid = connamespace WHERE condeferrable`)
  if (constraints.length === 0) return undefined
  const deferred = constraints.filter((constraint) => constraint.deferred).map(({ name }) => name)
  return async () => {
    await transaction.command('SET CONSTRAINTS ALL IMMEDIATE')
    // Not ALL: constraints that are INITIALLY IMMEDIATE have to stay so.
    if (deferred.length > 0) await transaction.command(`SET CONSTRAINTS ${deferred.join(', ')} DEFERRED`)
  }
}

/** A row that refers to one that does not exist. */
interface Violation {
  readonly table: string
  readonly rowid: number | null
  readonly fkid: number
}

// SQLite checks deferred foreign keys only when the outermost transaction is committed.
async function foreignKeys(transaction: SessionTransaction, sequelize: Sequelize): Promise<CommitCheck> {
  const violations = async (): Promise<readonly string[]> => {
    try {
      const rows = await transaction.rows<Violation>(sql`SELECT "table", rowid, fkid FROM pragma_foreign_key_check`)
      return rows.map(({ table, rowid, fkid }) => JSON.stringify([table, rowid, fkid]))
    } catch {
      return [] // a foreign key without its parent table: a statement that uses it fails by itself
    }
  }
  const before = new Set(await violations())
  return async () => {
    if ((await violations()).some((violation) => !before.has(violation))) throw foreignKeyError(sequelize)
  }
}

function foreignKeyError(sequelize: Sequelize): Error {
  const { Query } = sequelizeInternals(sequelize).dialect
  const error = new Error('SQLITE_CONSTRAINT: FOREIGN KEY constraint failed')
  const details = { code: 'SQLITE_CONSTRAINT', errno: 19, sql: 'COMMIT' }
  return new Query(undefined, sequelize, { type: QueryTypes.RAW }).formatError(Object.assign(error, details))
}
