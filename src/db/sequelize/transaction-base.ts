import { type Sequelize, Transaction } from 'sequelize'
import { hasFastPath } from './fast-path.js'
import { queryGeneratorOf, sequelizeInternals, SequelizeTransaction, type TransactionClass } from './internals.js'

interface Options {
  readonly readOnly: boolean
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

  constructor(sequelize: Sequelize, options: Options) {
    if (!hasFastPath(sequelize))
      return Reflect.construct(SequelizeTransaction, [sequelize, options], new.target) as object as LightTransaction
    const { transactionType: type, isolationLevel } = sequelizeInternals(sequelize).options
    this.sequelize = sequelize
    this.savepoints = []
    this._afterCommitHooks = []
    this.options = { type, isolationLevel, readOnly: options.readOnly }
    this.parent = undefined
    this.id = this.name = queryGeneratorOf(sequelize).generateTransactionId()
  }
}

// Not by `extends`, which would call Sequelize's constructor.
Object.setPrototypeOf(LightTransaction, Transaction)
Object.setPrototypeOf(LightTransaction.prototype, Transaction.prototype)

/** Sequelize's Transaction, as a class to extend. */
export const TransactionBase = LightTransaction as unknown as TransactionClass // it inherits the other members
