import type { Sequelize } from 'sequelize'
import type { Ending, NextStatement, TransactionEnd } from '../connection.js'
import { DialectConnection } from '../dialects/dialect-connection.js'
import type { TransactionNeeds } from '../dialect.js'
import type { SendDirect } from '../direct-statement.js'

/** The transaction of a test; a connection is a savepoint in it. */
export interface SavepointOwner {
  readonly isOpen: boolean
  /** @throws the error of a statement that is refused, which could not be undone. */
  assertUndoable(sql: string, needs: TransactionNeeds): void
  endSavepoint(name: string, needs: TransactionNeeds, end: TransactionEnd): Promise<void>
}

/** A savepoint in the transaction of a test, as the connection of a transaction of the app. */
export class SavepointConnection extends DialectConnection {
  readonly #name: string
  readonly #owner: SavepointOwner
  readonly #endTurn: () => void

  /** @param endTurn lets the next transaction of the app begin. */
  constructor(
    sequelize: Sequelize,
    direct: SendDirect | undefined,
    raw: object,
    needs: TransactionNeeds,
    name: string,
    owner: SavepointOwner,
    endTurn: () => void,
  ) {
    super(sequelize, direct, raw, false, needs)
    this.#name = name
    this.#owner = owner
    this.#endTurn = endTurn
  }

  protected override get beginning(): readonly string[] {
    return [
      `SAVEPOINT ${this.#name}`,
      ...readOnlyStatements(this.sequelize, this.needs, 'begin'),
      ...settingsOf(this.needs),
    ]
  }

  override get isOpen(): boolean {
    return this.#owner.isOpen
  }

  override prepare(next?: NextStatement): undefined {
    if (next) this.#owner.assertUndoable(next.sql, this.needs)
  }

  override end(end: TransactionEnd, { resolve, reject }: Ending): void {
    this.#owner.endSavepoint(this.#name, this.needs, end).then(() => resolve(true), reject)
  }

  release(): undefined {
    this.#endTurn()
  }

  async destroy(): Promise<void> {
    await this.#owner.endSavepoint(this.#name, this.needs, 'rollback').catch(() => {}) // the owner remembers it
    this.#endTurn()
  }
}

// MySQL cannot make a part of a transaction read-only.
export function readOnlyStatements(
  sequelize: Sequelize,
  { readOnly }: TransactionNeeds,
  when: 'begin' | 'end',
): readonly string[] {
  if (!readOnly) return []
  if (sequelize.getDialect() === 'sqlite') return [`PRAGMA query_only = ${when === 'begin' ? 1 : 0}`]
  return sequelize.getDialect() === 'postgres' && when === 'begin' ? ['SET TRANSACTION READ ONLY'] : []
}

// They replace those of the unit before, which last as long as the transaction of the test.
function settingsOf({ settings }: TransactionNeeds): readonly string[] {
  return settings ? [settings.slice(1).trim()] : []
}
