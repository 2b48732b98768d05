import { createRequire } from 'node:module'
import { DataTypes, fn, json, Model, type ModelStatic, type Sequelize, Transaction } from 'sequelize'
import { BootError } from '../../core/boot-error.js'
import { memo } from '../../core/memo.js'
import {
  dataTypeInternals,
  cloneDeep,
  dataTypesOf,
  type InstanceInternals,
  instanceInternals,
  type ModelInternals,
  modelInternals,
  parserStoreOf,
  type SequelizeInternals,
  sequelizeInternals,
  validator,
} from './internals.js'
import { missingMembers, type RequiredMembers } from './required-members.js'

/** An instance of Sequelize, with a model and an instance of it that exist only for the check. */
interface Probe {
  readonly sequelize: SequelizeInternals
  readonly model: () => ModelInternals
  readonly instance: () => InstanceInternals
}

/** Required members that Sequelize's types leave out. */
const REQUIRED: readonly RequiredMembers<Probe>[] = [
  {
    owner: 'Sequelize',
    of: ({ sequelize }) => sequelize,
    members: {
      options: 'object',
      dialect: 'object',
      connectionManager: 'object',
      log: 'function',
      normalizeDataType: 'function',
    },
  },
  {
    owner: 'ConnectionManager',
    of: ({ sequelize }) => sequelize.connectionManager,
    members: {
      lib: 'object',
      pool: 'object',
      config: 'object',
      getConnection: 'function',
      releaseConnection: 'function',
      destroyConnection: 'function',
      _onProcessExit: 'function',
      _connect: 'function',
      _disconnect: 'function',
      _validate: 'function',
    },
  },
  {
    owner: 'ConnectionManager.pool',
    of: ({ sequelize }) => sequelize.connectionManager.pool,
    members: {
      acquire: 'function',
      release: 'function',
      destroy: 'function',
      destroyAllNow: 'function',
      drain: 'function',
    },
  },
  {
    owner: 'Dialect',
    of: ({ sequelize }) => sequelize.dialect,
    members: { Query: 'function', supports: 'object', queryGenerator: 'object' },
  },
  { owner: 'Query', of: ({ sequelize }) => sequelize.dialect.Query, members: { formatBindParameters: 'function' } },
  {
    owner: 'Query.prototype',
    of: ({ sequelize }) => sequelize.dialect.Query.prototype,
    members: { run: 'function', formatError: 'function', _logQuery: 'function', handleSelectQuery: 'function' },
  },
  {
    owner: 'QueryGenerator',
    of: ({ sequelize }) => sequelize.dialect.queryGenerator,
    members: {
      OperatorMap: 'object',
      generateTransactionId: 'function',
      quoteIdentifier: 'function',
      quoteTable: 'function',
      quote: 'function',
      selectQuery: 'function',
      escape: 'function',
      _whereParseSingleValueObject: 'function',
      format: 'function',
      handleSequelizeMethod: 'function',
      whereItemsQuery: 'function',
      whereItemQuery: 'function',
      generateThroughJoin: 'function',
      generateJoin: 'function',
      parseConditionObject: 'function',
      jsonPathExtractionQuery: 'function',
      insertQuery: 'function',
      updateQuery: 'function',
      deleteQuery: 'function',
      bulkInsertQuery: 'function',
      arithmeticQuery: 'function',
      truncateTableQuery: 'function',
    },
  },
  {
    owner: 'QueryInterface',
    of: ({ sequelize }) => sequelize.getQueryInterface(),
    members: { increment: 'function', decrement: 'function', select: 'function' },
  },
  {
    owner: 'Model',
    of: ({ model }) => model(),
    members: {
      fieldAttributeMap: 'object',
      rawAttributes: 'object',
      queryGenerator: 'object',
      queryInterface: 'object',
      runHooks: 'function',
      bulkBuild: 'function',
      uniqueKeys: 'object',
      _scope: 'object',
      _indexes: 'object',
      _hasVirtualAttributes: 'boolean',
      _versionAttribute: 'string',
      _timestampAttributes: 'object',
      associations: 'object',
      autoIncrementAttribute: 'string',
      _attributeManipulation: 'object',
      _dataTypeSanitizers: 'object',
      _injectScope: 'function',
      _conformIncludes: 'function',
      _expandIncludeAll: 'function',
      _validateIncludedElements: 'function',
      _paranoidClause: 'function',
    },
  },
  {
    owner: 'Model.prototype',
    of: ({ model }) => model().prototype,
    members: { _customGetters: 'object', _initValues: 'function', validators: 'object' },
  },
  {
    owner: 'an instance of a model',
    of: ({ instance }) => instance(),
    members: { _options: 'object', _previousDataValues: 'object', _changed: 'object' },
  },
  { owner: 'Transaction.prototype', of: () => Transaction.prototype, members: { prepareEnvironment: 'function' } },
  { owner: 'STRING(5)', of: () => new DataTypes.STRING(5, true), members: { _length: 'number', _binary: 'boolean' } },
  { owner: 'INTEGER.UNSIGNED', of: () => DataTypes.INTEGER.UNSIGNED, members: { _unsigned: 'boolean' } },
  {
    owner: 'INTEGER.UNSIGNED.options',
    of: () => dataTypeInternals(DataTypes.INTEGER.UNSIGNED).options,
    members: { unsigned: 'boolean' },
  },
  { owner: 'DECIMAL(5, 2)', of: () => DataTypes.DECIMAL(5, 2), members: { _precision: 'number', _scale: 'number' } },
  { owner: "ENUM('a')", of: () => DataTypes.ENUM('a'), members: { key: 'string', values: 'object' } },
  { owner: 'ARRAY(STRING)', of: () => DataTypes.ARRAY(DataTypes.STRING), members: { type: 'object' } },
  { owner: "GEOMETRY('POINT')", of: () => DataTypes.GEOMETRY('POINT'), members: { type: 'string' } },
  { owner: 'VIRTUAL(STRING)', of: () => DataTypes.VIRTUAL(DataTypes.STRING), members: { returnType: 'object' } },
  { owner: 'RANGE(INTEGER)', of: () => DataTypes.RANGE(DataTypes.INTEGER), members: { options: 'object' } },
  {
    owner: 'DATE.prototype',
    of: () => dataTypesOf()?.['DATE']?.prototype,
    members: { _sanitize: 'function', _stringify: 'function' },
  },
  { owner: 'Sequelize.Validator', of: () => validator, members: { isEmail: 'function' } },
  { owner: 'fn()', of: () => fn('now'), members: { fn: 'string', args: 'object' } },
  { owner: 'json()', of: () => json({}), members: { conditions: 'object' } },
  { owner: 'Utils', of: () => ({ cloneDeep }), members: { cloneDeep: 'function' } },
]

const TYPE_CAST: RequiredMembers<Probe> = {
  owner: 'ConnectionManager.constructor',
  of: ({ sequelize }) => sequelize.connectionManager.constructor,
  members: { _typecast: 'function' },
}

const FORMAT_RESULTS: RequiredMembers<Probe> = {
  owner: 'Query.prototype',
  of: ({ sequelize }) => sequelize.dialect.Query.prototype,
  members: { formatResults: 'function' },
}

const TYPE_PARSERS: RequiredMembers<Probe> = {
  owner: 'the parsers of types',
  of: ({ sequelize }) => parserStoreOf(sequelize.options.dialect),
  members: { get: 'function' },
}

const JSON_ROWS: RequiredMembers<Probe> = {
  owner: 'Query.prototype',
  of: ({ sequelize }) => sequelize.dialect.Query.prototype,
  members: { handleJsonSelectQuery: 'function' },
}

const CONNECT: RequiredMembers<Probe> = {
  owner: 'ConnectionManager',
  of: ({ sequelize }) => sequelize.connectionManager,
  members: { connect: 'function', validate: 'function' },
}

const POOL: RequiredMembers<Probe> = {
  owner: 'ConnectionManager.pool',
  of: ({ sequelize }) => sequelize.connectionManager.pool.write ?? sequelize.connectionManager.pool,
  members: { size: 'number', maxSize: 'number', available: 'number', waiting: 'number' },
}

/** Required with one dialect only. */
const REQUIRED_OF_DIALECT: Readonly<Record<string, readonly RequiredMembers<Probe>[]>> = {
  mysql: [POOL, TYPE_CAST, FORMAT_RESULTS, TYPE_PARSERS, CONNECT],
  mariadb: [POOL, TYPE_CAST, FORMAT_RESULTS, TYPE_PARSERS, CONNECT, JSON_ROWS],
  sqlite: [
    {
      owner: 'Query.prototype',
      of: ({ sequelize }) => sequelize.dialect.Query.prototype,
      members: { applyParsers: 'function', getDatabaseMethod: 'function', _handleQueryResponse: 'function' },
    },
    {
      owner: 'ConnectionManager',
      of: ({ sequelize }) => sequelize.connectionManager,
      members: { connections: 'object' },
    },
  ],
  postgres: [
    POOL,
    CONNECT,
    {
      owner: 'RANGE.prototype',
      of: () => dataTypesOf('postgres')?.['RANGE']?.prototype,
      members: { escape: 'boolean', _value: 'function', toCastType: 'function', _stringify: 'function' },
    },
    {
      owner: 'HSTORE.prototype',
      of: () => dataTypesOf('postgres')?.['HSTORE']?.prototype,
      members: { escape: 'boolean', _value: 'function' },
    },
    { owner: 'ARRAY(STRING)', of: () => DataTypes.ARRAY(DataTypes.STRING), members: { escape: 'boolean' } },
  ],
}

/** Members that this package sets and Sequelize must read. */
const READ_BY_SEQUELIZE = [
  { owner: 'Transaction', member: 'connection' },
  { owner: 'Transaction', member: 'finished' },
  { owner: 'Sequelize', member: '_cls' },
  { owner: 'the options of QueryGenerator.insertQuery', member: 'bindParam' },
] as const

interface UsedMember {
  readonly owner: string
  readonly member: string
}

/** All members that are checked for an instance of this dialect. */
export function usedMembers(dialect: string): readonly UsedMember[] {
  const members = requiredOf(dialect).flatMap(({ owner, members }) =>
    Object.keys(members).map((member) => ({ owner, member })),
  )
  return [...members, ...READ_BY_SEQUELIZE]
}

function requiredOf(dialect: string): readonly RequiredMembers<Probe>[] {
  return [...REQUIRED, ...(REQUIRED_OF_DIALECT[dialect] ?? [])]
}

/**
 * Checks that the installed Sequelize has every member that is used. Without this check, a missing member would cause wrong pages, or
 * queries outside their transaction.
 *
 * @throws BootError that names each missing member.
 */
export async function checkInternals(sequelize: Sequelize): Promise<void> {
  const probe = probeOf(sequelize)
  const absent = missingMembers(requiredOf(sequelize.getDialect()), probe)
  const missing = [...absent, ...(await unreadMembers(probe.sequelize))]
  if (missing.length === 0) return
  throw new BootError(
    `This version of Sequitur works with sequelize 6.37: ${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} missing in the installed version ${installedVersion()}. ` +
      `Install sequelize@~6.37.8, or a version of sequitur that supports the installed sequelize.`,
  )
}

// The model gets a copy of the Sequelize instance, so that it triggers no hooks and is not added to its models.
function probeOf(sequelize: Sequelize): Probe {
  class SequiturProbe extends Model {}
  const none = () => undefined
  const copy: Sequelize = Object.create(sequelize, {
    runHooks: { value: none },
    isDefined: { value: () => false },
    modelManager: { value: { addModel: none, getModel: none, removeModel: none } },
  })
  const model = memo((): ModelStatic<Model> =>
    SequiturProbe.init({ name: DataTypes.STRING }, { sequelize: copy, version: true }),
  )
  return {
    sequelize: sequelizeInternals(sequelize),
    model: () => modelInternals(model()),
    instance: () => instanceInternals(model().build({ name: '' })),
  }
}

/** The members that Sequelize does not read any more. */
async function unreadMembers(sequelize: SequelizeInternals): Promise<string[]> {
  const isRead = await Promise.all(READ_BY_SEQUELIZE.map(({ member }) => isReadBySequelize(sequelize, member)))
  return READ_BY_SEQUELIZE.flatMap(({ owner, member }, index) => (isRead[index] ? [] : [`${owner}.${member}`]))
}

async function isReadBySequelize(
  sequelize: SequelizeInternals,
  member: (typeof READ_BY_SEQUELIZE)[number]['member'],
): Promise<boolean> {
  // Sequelize reads it from its class, where a getter of a probe would also serve queries that run now. Its source tells.
  if (member === '_cls') return /\b_cls\b/.test(String(Model.findAll))
  const wasRead = new Error()
  const get = () => {
    throw wasRead
  }
  const probe = Object.defineProperty({}, member, { get })
  try {
    if (member === 'bindParam') sequelize.dialect.queryGenerator.insertQuery('probe', { name: '' }, undefined, probe)
    else await sequelize.query('SELECT 1', { transaction: probe, retry: { max: 1 } })
  } catch (error) {
    return error === wasRead
  }
  return false
}

function installedVersion(): string {
  const { version }: { readonly version: string } = createRequire(import.meta.url)('sequelize/package.json')
  return version
}
