import type { Sequelize, Transaction } from 'sequelize'
import type { UnitBoundary } from '../boundary.js'
import { ALL_TABLES, tablesOfStatement } from '../sql/statement-tables.js'
import { mayWrite } from '../sql/writes.js'
import type { StatementSource } from '../statements/statement-source.js'

/** Rows of a table, as src/db/sql/statement-tables.ts names it. */
export interface RowsOfTable {
  readonly table: string
  /** Whose rows: what a boundary limits statements to, such as a tenant. Undefined for those of all. */
  readonly owner: string | undefined
}

/** Rows that were written. */
export interface ChangedRows extends RowsOfTable {
  /** Whether some may have been deleted. */
  readonly deletes: boolean
}

/** Receives what transactions have changed, when they were committed. */
export type OnChange = (sequelize: Sequelize, changed: readonly ChangedRows[]) => void

let onChange: OnChange | undefined

/** Has the tables of all transactions of the process noted from now on, those of all databases. Called when an app has something that follows tables. */
export function followTables(listener: OnChange): void {
  onChange = listener
}

/** The tables that one transaction has used. */
export class TableUse {
  readonly #sequelize: Sequelize
  readonly #boundary: UnitBoundary | undefined
  readonly #written = new Map<string, ChangedRows>()
  #read: Map<string, RowsOfTable> | undefined

  constructor(sequelize: Sequelize, boundary: UnitBoundary | undefined) {
    this.#sequelize = sequelize
    this.#boundary = boundary
  }

  /** Notes the tables of all statements from now on, and not only those that are written. */
  noteReads(): void {
    this.#read = new Map()
  }

  /** The tables of the statements since {@link noteReads}. */
  get read(): readonly RowsOfTable[] {
    return [...(this.#read?.values() ?? [])]
  }

  /** A statement is sent: call it where its limits apply. */
  add(sql: string, source: StatementSource | undefined, kind: 'read' | 'write' | undefined): void {
    if (source && 'isOwn' in source) return
    const generated = source && 'generated' in source ? source.generated : undefined
    const isRead = generated ? kind !== 'write' : !mayWrite(sql) && !sql.includes(';')
    if (isRead && !this.#read) return
    const { named, written } = tablesOfStatement(generated?.sql ?? sql, this.#sequelize.getDialect())
    for (const { table, deletes } of written) this.#addWritten(table, deletes)
    if (this.#read) for (const table of named) this.#read.set(...this.#keyed(table))
  }

  #addWritten(table: string, deletes: boolean): void {
    const [key, rows] = this.#keyed(table)
    const isDeleted = deletes || this.#written.get(key)?.deletes === true
    this.#written.set(key, { ...rows, deletes: isDeleted })
  }

  #keyed(table: string): [key: string, rows: RowsOfTable] {
    const owner = this.#ownerIn(table)
    return [owner === undefined ? table : `${table}\n${owner}`, { table, owner }]
  }

  // Who the owner is may be unknown, or refused: the statement fails then, or is not limited.
  #ownerIn(table: string): string | undefined {
    try {
      return table === ALL_TABLES ? undefined : this.#boundary?.ownerIn(table)
    } catch {
      return undefined
    }
  }

  /** The transaction was committed, or it is not known whether it was. */
  committed(): void {
    if (this.#written.size === 0) return
    const changed = [...this.#written.values()]
    this.#written.clear()
    onChange?.(this.#sequelize, changed)
  }

  /** It was rolled back. A statement that may write anything may also have committed, as those that alter tables do on MySQL. */
  rolledBack(): void {
    if (this.#written.has(ALL_TABLES)) this.committed()
    this.#written.clear()
  }
}

/** Undefined if nothing follows tables. */
export function newTableUse(sequelize: Sequelize, boundary: UnitBoundary | undefined): TableUse | undefined {
  return onChange && new TableUse(sequelize, boundary)
}

/** A transaction that a program has given to a query; a savepoint has a parent. */
interface GivenTransaction extends Partial<Pick<Transaction, 'afterCommit'>> {
  readonly parent?: GivenTransaction | null
  /** Of the transaction of a session. */
  readonly tables?: TableUse | undefined
}

const ofTransactions = new WeakMap<GivenTransaction, TableUse>()

/** Notes the tables of a statement outside of sessions. @param transaction that of the program, if it has one. */
export function noteOutside<T>(
  sequelize: Sequelize,
  sql: string,
  transaction: GivenTransaction | null | undefined,
  answer: Promise<T>,
  boundaryOf: () => UnitBoundary | undefined,
): Promise<T> {
  if (!onChange) return answer
  if (transaction) {
    useOf(sequelize, outermost(transaction), boundaryOf()).add(sql, undefined, undefined)
    return answer
  }
  const use = new TableUse(sequelize, boundaryOf())
  use.add(sql, undefined, undefined)
  // What was sent before its connection was lost may be committed.
  return answer.finally(() => use.committed())
}

function outermost(transaction: GivenTransaction): GivenTransaction {
  return transaction.parent ? outermost(transaction.parent) : transaction
}

// Sequelize itself reads the version of a server with an object that is no transaction.
function useOf(sequelize: Sequelize, transaction: GivenTransaction, boundary: UnitBoundary | undefined): TableUse {
  const found = transaction.tables ?? ofTransactions.get(transaction)
  if (found) return found
  const use = new TableUse(sequelize, boundary)
  ofTransactions.set(transaction, use)
  transaction.afterCommit?.(() => use.committed())
  return use
}
