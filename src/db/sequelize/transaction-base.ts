import { type Sequelize, Transaction } from 'sequelize'
import { sequelizeInternals, SequelizeTransaction, type TransactionClass } from './internals.js'

interface Options {
  readonly readOnly: boolean
  /** Whether nothing of it has to be made by Sequelize. */
  readonly isLight: boolean
}

let lastTransaction = 0

/** The id of a transaction appears only in logs. A number is enough there, and cheaper than a UUID. */
export function newTransactionId(): string {
  return String(++lastTransaction)
}

/**
 * The same fields that Sequelize's constructor makes of these options. That one copies the options one by one and deletes one of the copies, which makes an object
 * that is slow to create, for every request.
 */
class LightTransaction {
  declare readonly sequelize: Sequelize
  declare readonly savepoints: readonly unknown[]
  declare readonly _afterCommitHooks: readonly unknown[]
  declare readonly options: object
  declare readonly parent: undefined
  declare readonly name: string
  declare readonly id: string

  constructor(sequelize: Sequelize, { readOnly, isLight }: Options) {
    if (!isLight)
      return Reflect.construct(
        SequelizeTransaction,
        [sequelize, { readOnly }],
        new.target,
      ) as object as LightTransaction
    const { transactionType: type, isolationLevel } = sequelizeInternals(sequelize).options
    this.sequelize = sequelize
    this.savepoints = []
    this._afterCommitHooks = []
    this.options = { type, isolationLevel, readOnly }
    this.parent = undefined
    this.id = this.name = newTransactionId()
  }
}

// Not by `extends`, which would call Sequelize's constructor.
Object.setPrototypeOf(LightTransaction, Transaction)
Object.setPrototypeOf(LightTransaction.prototype, Transaction.prototype)

/** Sequelize's Transaction, as a class to extend. */
export const TransactionBase = LightTransaction as unknown as TransactionClass // it inherits the other members
