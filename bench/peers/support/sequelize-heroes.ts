import { type CreationOptional, type InferAttributes, type InferCreationAttributes, Sequelize } from 'sequelize'
import { DataTypes, Model } from 'sequelize'
import { type Database, pageMeta, POOL_SIZE } from './peer.js'

/*
 * The model and the transactions of the peers that use Sequelize without a framework of its own for it.
 */

export interface HeroInput {
  readonly name: string
  readonly secret_identity: string
  readonly age: number
}

export class Hero extends Model<InferAttributes<Hero>, InferCreationAttributes<Hero>> {
  declare name: string
  declare secret_identity: string
  declare age: number
  declare id: CreationOptional<number>
}

/** The options of a Sequelize instance. */
export function sequelizeOptions({ kind, url }: Database) {
  const { hostname, port, username, password, pathname } = new URL(kind === 'sqlite' ? 'sqlite://localhost' : url)
  const common = { logging: false, pool: { max: POOL_SIZE } } as const
  if (kind === 'sqlite') return { ...common, dialect: kind, storage: url }
  return {
    ...common,
    dialect: kind,
    host: hostname,
    ...(port && { port: Number(port) }),
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: pathname.slice(1),
  }
}

/** Each method is one transaction. */
export class Heroes {
  readonly #sequelize: Sequelize

  constructor(database: Database) {
    this.#sequelize = new Sequelize(sequelizeOptions(database))
    Hero.init(
      {
        name: { type: DataTypes.STRING, allowNull: false, unique: true },
        secret_identity: { type: DataTypes.STRING, allowNull: false },
        age: { type: DataTypes.INTEGER, allowNull: false },
        id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      },
      { sequelize: this.#sequelize, tableName: 'hero', timestamps: false },
    )
  }

  list(offset: number, limit: number) {
    return this.#sequelize.transaction(async (transaction) => {
      const { rows, count } = await Hero.findAndCountAll({ offset, limit, order: ['id'], transaction })
      return { data: rows, meta: pageMeta(offset, limit, count) }
    })
  }

  get(id: number) {
    return this.#sequelize.transaction((transaction) => Hero.findByPk(id, { transaction }))
  }

  /** As an object, because a created instance begins with its id, and one that was read as its model does. */
  create({ name, secret_identity, age }: HeroInput) {
    return this.#sequelize.transaction(async (transaction) => {
      const { id } = await Hero.create({ name, secret_identity, age }, { transaction })
      return { name, secret_identity, age, id }
    })
  }
}
