import { DataTypes, type InitOptions, type ModelAttributes, type QueryInterface } from 'sequelize'
import { Column, type Model, type ModelStatic, Table } from 'sequelize-typescript'
import { isMysql } from '../db/is-mysql.js'
import { Base } from '../db/base.js'
import { howToCreate } from '../db/startup/schema-check.js'

const TABLE = 'idempotency_record'

// Without a length, MySQL stores 64 KiB; Sequelize warns of a length on PostgreSQL.
function bytesType(dialect: string | undefined): DataTypes.BlobDataType | DataTypes.BlobDataTypeConstructor {
  return isMysql(dialect) ? DataTypes.BLOB('long') : DataTypes.BLOB
}

// New objects for each use: Sequelize adds to those that it is given.
const columns = (dialect?: string) =>
  ({
    id: { type: DataTypes.STRING(64), allowNull: false, primaryKey: true },
    route: { type: DataTypes.STRING(255), allowNull: false },
    request: { type: DataTypes.STRING(64), allowNull: false },
    expires: { type: DataTypes.BIGINT, allowNull: false },
    status: { type: DataTypes.INTEGER, allowNull: true },
    headers: { type: DataTypes.TEXT, allowNull: true },
    body: { type: bytesType(dialect), allowNull: true },
  }) satisfies ModelAttributes

const index = () => ({ name: `${TABLE}_expires`, fields: ['expires'] })

/**
 * The table of `@Idempotent()`: a row for each key, with the response that was sent. Add it to the models of the database in which the handlers write:
 * `createApp({ models: [Payment, IdempotencyRecord] })`. Its table is created by a migration with {@link createIdempotencyTable}.
 */
export class IdempotencyRecord extends Base<IdempotencyRecord> {
  /** A digest of the key, the route and the client. */
  @Column(columns().id) declare id: string
  /** The route, for people: `POST /payments`. */
  @Column(columns().route) declare route: string
  /** A digest of the request: its path, its query and its body. */
  @Column(columns().request) declare request: string
  /** When the row may be deleted, in milliseconds since 1970. */
  @Column(columns().expires) declare expires: number
  /** The status of the response, to which the other columns below belong, too. */
  @Column(columns().status) declare status: number | null
  /** As JSON. */
  @Column(columns().headers) declare headers: string | null
  @Column(columns().body) declare body: Uint8Array | null

  /** @internal Called by sequelize-typescript when the class is mapped to a database. */
  static override initialize<S extends ModelStatic<Model>, M extends InstanceType<S>>(
    attributes: ModelAttributes,
    options: InitOptions,
  ): S {
    const { body } = columns(options.sequelize.getDialect())
    return super.initialize<S, M>({ ...attributes, body }, options)
  }
}

Table({ tableName: TABLE, timestamps: false, indexes: [index()] })(IdempotencyRecord)

howToCreate.write(
  IdempotencyRecord,
  `Write a migration: import { createIdempotencyTable } from 'sequitur/idempotency', and await createIdempotencyTable(queryInterface).`,
)

/**
 * Creates the table of {@link IdempotencyRecord}: for a migration, which drops it with `queryInterface.dropTable('idempotency_record')`.
 *
 * @example
 * export async function up({ context }: { readonly context: QueryInterface }) { await createIdempotencyTable(context) }
 */
export async function createIdempotencyTable(queryInterface: QueryInterface): Promise<void> {
  await queryInterface.createTable(TABLE, columns(queryInterface.sequelize.getDialect()))
  await queryInterface.addIndex(TABLE, index())
}
