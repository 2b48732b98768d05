import {
  DataTypes,
  type FindOptions,
  type IndexesOptions,
  type Model,
  type ModelStatic,
  type Sequelize,
  Sequelize as SequelizeClass,
  Transaction,
  Utils,
} from 'sequelize'
import { loadLater } from '../../core/memo.js'
import type { ConnectionManager, PoolCounts } from './connection-manager.js'
import type { Attributes, QueryGenerator, RowValues } from './query-generator.js'

/*
 * Every member of Sequelize 6 that this package uses and that is missing from Sequelize's types. The functions at the end of this file return
 * Sequelize's objects with these types; no other file casts them. test/db/sequelize-members.test.ts checks that
 * all these members exist in the versions that the startup accepts.
 */

/** An instance of Sequelize. */
export interface SequelizeInternals {
  readonly constructor: new () => object
  readonly options: SequelizeOptions
  readonly dialect: DialectInternals
  readonly connectionManager: ConnectionManager
  hasHook(name: string): boolean
  runHooks(name: string, ...args: readonly unknown[]): Promise<unknown>
  /** Public, with another type. */
  getQueryInterface(): QueryInterface
  log(message: string, options: object): void
  /** The type of this dialect for a type of all dialects. Replaced, so that texts of types are known. */
  normalizeDataType: (type: unknown) => unknown
  /** Replaced, so that queries join the current transaction. */
  query(sql: unknown, options?: object): Promise<unknown>
  /** Replaced, so that a transaction inside a session is a savepoint of it. */
  transaction(options?: unknown, work?: TransactionWork): Promise<unknown>
}

export type TransactionWork = (transaction: Transaction) => Promise<unknown>

/** The options of an instance. */
export interface SequelizeOptions extends HookOptions {
  readonly logging?: unknown
  readonly dialect: string
  readonly query?: object
  readonly benchmark?: boolean
  readonly showWarnings?: boolean
  readonly logQueryParameters?: boolean
  readonly minifyAliases?: boolean
  readonly quoteIdentifiers?: boolean
  readonly omitNull?: boolean
  readonly typeValidation?: boolean
  readonly transactionType?: unknown
  readonly isolationLevel?: unknown
  readonly databaseVersion?: unknown
  readonly replication?: unknown
  /** '+00:00', or the name of a zone. */
  readonly timezone: string
  readonly storage?: string
  readonly host?: string
  readonly dialectOptions?: {
    readonly charset?: unknown
    readonly collation?: unknown
    readonly mode?: unknown
    readonly multipleStatements?: unknown
    /** Milliseconds, of pg. */
    readonly connectionTimeoutMillis?: number
    /** Milliseconds, of the drivers of MySQL and MariaDB. */
    readonly connectTimeout?: number
  }
}

/** The hooks of an instance or of a model, by hook type: 'beforeSave'. */
export interface HookOptions {
  readonly hooks?: Readonly<Record<string, readonly Hook[]>>
}

/** A hook: an object with its name, or the function alone. */
export interface Hook {
  readonly name?: string
}

export interface DialectInternals {
  /** Replaced with subclasses. */
  Query: QueryClass
  readonly supports: { readonly bulkDefault?: boolean }
  readonly queryGenerator: QueryGenerator
}

/** One execution of a statement on a connection. */
export interface Query {
  readonly options: unknown
  /** Undefined for a query that only formats an error. */
  readonly connection?: object
  readonly sequelize?: Sequelize
  /** Undefined for raw SQL. */
  readonly model?: object
  run(sql: string, parameters?: unknown): Promise<unknown>
  formatError(error: Error, stack?: string): Error
  /** Logs the statement. Returns a function to call when it was answered. */
  _logQuery(...args: readonly unknown[]): () => void
  /** Only in the classes of MySQL and MariaDB: the result of the query, from that of the driver. */
  formatResults(result: unknown): unknown
  /** Only in the class of MariaDB: parses the JSON of servers that do not name its type. */
  handleJsonSelectQuery(rows: readonly unknown[]): void
  handleSelectQuery(rows: readonly unknown[]): unknown
  /** Only in SQLite's class: converts a value of a column of this type. */
  applyParsers(type: string, value: unknown): unknown
  /** Only in SQLite's class: the SQL that is executed, set by run(). */
  sql?: string
  /** Only in SQLite's class: 'all' for a query with rows, 'run' for others. */
  getDatabaseMethod(): string
  /** Only in SQLite's class: reads the rows of a query, or from the statement what it has changed. */
  _handleQueryResponse(statement: unknown, types: object, error: null, rows: readonly unknown[] | undefined): unknown
}

export interface QueryClass {
  new (connection: unknown, sequelize: Sequelize, options: object): Query
  readonly prototype: Query
  formatBindParameters(sql: string, values: unknown, dialect: string): [sql: string, parameters?: readonly unknown[]]
}

/** The functions that read values of columns by the types of MySQL and MariaDB. */
interface ParserStore {
  get(type: string): unknown
}

/** Sends the statements of models; one for each instance of Sequelize. */
export interface QueryInterface {
  /** Sends the statement of `Model.increment()`, without hooks, and without the attributes of the model. */
  increment: Arithmetic
  decrement: Arithmetic
  /** Generates the SQL of `findAll()`, and executes it. */
  select(model: ModelStatic<Model>, table: unknown, options: FoundOptions): Promise<unknown>
  /** Public; its types leave out the model, and unique keys. */
  createTable(table: unknown, attributes: object, options: object, model: ModelStatic<Model>): Promise<unknown>
  /** Public; its types leave out names with a schema. */
  addIndex(table: unknown, options: object): Promise<unknown>
}

/** The options of `findAll()` when all of them are resolved. */
export type FoundOptions = FindOptions & {
  readonly bind?: unknown
  readonly replacements?: unknown
  readonly hooks?: boolean
}

export type Arithmetic = (
  model: ModelStatic<Model>,
  table: unknown,
  where: unknown,
  /** By the names of the columns. */
  amounts: RowValues,
  otherValues: unknown,
  options: object,
) => Promise<unknown>

/** A declared index. */
export interface IndexInternals {
  readonly name: string
  readonly fields: readonly NonNullable<IndexesOptions['fields']>[number][]
  readonly unique?: unknown
  readonly where?: object
}

/** A model's class. */
export interface ModelInternals {
  readonly rawAttributes: Attributes
  readonly sequelize: SequelizeInternals
  readonly options: HookOptions & {
    readonly paranoid?: boolean
    readonly rejectOnEmpty?: unknown
    readonly validate?: object
  }
  readonly autoIncrementAttribute: string | null
  readonly fieldAttributeMap: Readonly<Record<string, string>>
  readonly queryGenerator: QueryGenerator
  readonly queryInterface: QueryInterface
  runHooks(name: string, ...args: readonly unknown[]): Promise<unknown>
  readonly prototype: {
    readonly _customGetters: object
    /** By the names of the attributes. */
    readonly validators: object
    _initValues(values: object, options: object): void
  }
  /** By their names; `column` is the attribute of a key of one column. */
  readonly uniqueKeys: Readonly<
    Record<string, { readonly fields: readonly string[]; readonly column: string; readonly msg?: string | null }>
  >
  readonly _scope?: object
  /** The indexes of the option `indexes`, with their names. */
  _indexes: readonly IndexInternals[]
  readonly _hasVirtualAttributes?: boolean
  readonly _virtualAttributes: ReadonlySet<string>
  readonly _versionAttribute?: string
  /** By their names. */
  readonly associations: Readonly<Record<string, AssociationInternals>>
  readonly _timestampAttributes: {
    readonly createdAt?: string
    readonly updatedAt?: string
    readonly deletedAt?: string
  }
  readonly _attributeManipulation: Readonly<Record<string, PropertyDescriptor>>
  readonly _dataTypeSanitizers: Readonly<Record<string, Sanitize>>
  /** Derives what Sequelize keeps of the attributes, such as those with dates, from `rawAttributes`. */
  refreshAttributes(): void
  unscoped(): ModelStatic<Model>
  bulkBuild(rows: readonly unknown[], options: object): Model[]
  _injectScope(options: object): void
  _conformIncludes(options: object, self: unknown): void
  _expandIncludeAll(options: object): void
  _validateIncludedElements(options: object): void
  /** Adds to the conditions that no row is deleted, if the model is paranoid. */
  _paranoidClause<O extends { readonly where?: unknown }>(model: unknown, options: O): O
}

export type Sanitize = (value: unknown, options: object) => unknown

/** `useHooks`: destroy() of an instance destroys the associated ones, too. */
interface AssociationInternals {
  readonly associationType: string
  readonly foreignKey: string
  readonly options: { readonly useHooks?: boolean }
}

/** An instance of a model. `attributes` of its options are those that a query has read; undefined for an instance that was made. */
export interface InstanceInternals {
  readonly constructor: ModelInternals
  readonly dataValues: Record<string, unknown>
  readonly _options: {
    readonly attributes?: readonly unknown[]
    readonly include?: readonly unknown[]
    readonly includeNames?: readonly string[]
  }
  isNewRecord: boolean
  _previousDataValues: Record<string, unknown>
  _changed: Set<string>
}

/** The type of a column. */
export interface DataTypeInternals {
  readonly key?: string
  /** The values of an ENUM. */
  readonly values?: readonly string[]
  /** The element type of ARRAY; the kind of GEOMETRY, such as 'POINT'. */
  readonly type?: unknown
  /** The return type of a VIRTUAL. */
  readonly returnType?: unknown
  /** `subtype` is of RANGE. SQLite and PostgreSQL drop `_unsigned`, and keep `unsigned`. */
  readonly options?: { readonly subtype?: unknown; readonly unsigned?: boolean }
  /** False if Sequelize writes the type's output into the SQL unescaped. */
  readonly escape?: boolean
  readonly _length?: number
  readonly _binary?: boolean
  readonly _unsigned?: boolean
  readonly _precision?: number
  readonly _scale?: number
  readonly _sanitize?: Sanitize
}

/** The column types of all databases, and those of one dialect under its name: `DataTypes.postgres.RANGE`. */
export type DataTypesInternals = Readonly<Record<string, { readonly prototype?: DataTypeInternals }>>

/** HSTORE of PostgreSQL. */
export interface HstoreInternals {
  _value(values: object): unknown
}

/** RANGE of PostgreSQL. */
export interface RangeInternals {
  _value(bounds: unknown, options: object): unknown
  toCastType(): string
}

/** `fn(...)`. */
export interface FnInternals {
  readonly fn: string
  readonly args: readonly unknown[]
}

/** A transaction; subclassed. Only the members that Sequelize's query path reads, and those that end it. */
export interface TransactionInternals extends Omit<Transaction, 'commit' | 'rollback' | 'afterCommit'> {
  finished?: string
  parent?: Transaction | null
  commit(): Promise<void>
  rollback(): Promise<void>
  afterCommit(hook: (transaction: Transaction) => unknown): void
  prepareEnvironment(): Promise<void>
}

export type Validator = Readonly<Record<string, (this: unknown, text: string, ...args: readonly unknown[]) => unknown>>

// The casts. Each only adds the members above to the type of its argument; test/db/sequelize-members.test.ts checks that they exist.

/** An instance of Sequelize, with the members that its types leave out. */
export function sequelizeInternals(sequelize: Sequelize): SequelizeInternals {
  return sequelize as unknown as SequelizeInternals
}

/** The pool of the server that is written to. */
export function writePoolOf(sequelize: Sequelize): PoolCounts {
  const { pool } = sequelizeInternals(sequelize).connectionManager
  return pool.write ?? pool
}

export function queryGeneratorOf(sequelize: Sequelize): QueryGenerator {
  return sequelizeInternals(sequelize).dialect.queryGenerator
}

export function queryInterfaceOf(sequelize: Sequelize): QueryInterface {
  return sequelizeInternals(sequelize).getQueryInterface()
}

/** The Sequelize instance of a model that is initialized: any model that is queried. */
export function sequelizeOf(model: ModelStatic<Model>): Sequelize {
  return model.sequelize as Sequelize
}

/** A class that is known to be a model, but has another type in sequelize-typescript or as a token. */
export function modelClass(model: object): ModelStatic<Model> {
  return model as ModelStatic<Model>
}

/** A model, with the members that its types leave out. */
export function modelInternals(model: ModelStatic<Model>): ModelInternals {
  return model as unknown as ModelInternals
}

/** An instance of a model, with the members that its types leave out. */
export function instanceInternals(instance: Model): InstanceInternals {
  return instance as unknown as InstanceInternals
}

/** `type` is a class (DataType.STRING) or an instance (DataType.STRING(80)). */
export function dataTypeInternals(type: unknown): DataTypeInternals {
  return (typeof type === 'function' ? new (type as new () => DataTypeInternals)() : (type ?? {})) as DataTypeInternals
}

/** A call of `fn(...)`, with the members that its types leave out; none for other objects with SQL, such as `literal(...)`. */
export function fnInternals(call: InstanceType<typeof Utils.SequelizeMethod>): Partial<FnInternals> {
  return call as unknown as Partial<FnInternals>
}

/** The model of an instance. */
export function modelOf(instance: Model): ModelStatic<Model> {
  return instance.constructor as ModelStatic<Model>
}

interface TransactionOptions {
  readonly readOnly: boolean
  /** Whether it is created without Sequelize's constructor. */
  readonly isLight: boolean
}

/** Sequelize's Transaction, with the constructor that its types leave out. */
type TransactionClass = new (sequelize: Sequelize, options: TransactionOptions) => TransactionInternals

let lastTransaction = 0

/** The id of a transaction appears only in logs. A number is enough there, and cheaper than a UUID. */
export function newTransactionId(): string {
  return String(++lastTransaction)
}

/**
 * Sets the same fields as Sequelize's constructor. The original copies the options one by one and deletes one of the copies, which makes the
 * object slow to create, for every request.
 */
class LightTransaction {
  declare readonly sequelize: Sequelize
  declare readonly savepoints: readonly unknown[]
  declare readonly _afterCommitHooks: readonly unknown[]
  declare readonly options: object
  declare readonly parent: undefined
  declare readonly name: string
  declare readonly id: string

  constructor(sequelize: Sequelize, { readOnly, isLight }: TransactionOptions) {
    if (!isLight)
      return Reflect.construct(
        Transaction as unknown as TransactionClass,
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

/** The transaction as the hooks of models receive it. */
export function asTransaction(transaction: TransactionInternals): Transaction {
  return transaction as unknown as Transaction
}

/** The column types of all databases, or of one dialect. */
export function dataTypesOf(dialect?: string): DataTypesInternals | undefined {
  const types = DataTypes as unknown as DataTypesInternals & Readonly<Record<string, DataTypesInternals | undefined>>
  return dialect === undefined ? types : types[dialect]
}

/** The rules of a column's `validate`. */
export const { Validator: validator } = SequelizeClass as unknown as { readonly Validator: Validator }

const parserStores = loadLater<(dialect: string) => ParserStore>('sequelize/lib/dialects/parserStore')

export function parserStoreOf(dialect: string): ParserStore {
  return parserStores()(dialect)
}

/** Sequelize's copy of options: it keeps models and other class instances as they are. */
export const { cloneDeep } = Utils as unknown as { cloneDeep<T>(value: T): T }
