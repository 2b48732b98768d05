import { createRequire } from 'node:module'
import { DataTypes, Model, type ModelStatic, type Sequelize, Transaction } from 'sequelize'
import { BootError } from '../../core/boot-error.js'
import {
  cloneDeep,
  dataTypesOf,
  type InstanceInternals,
  instanceInternals,
  type ModelInternals,
  modelInternals,
  type SequelizeInternals,
  sequelizeInternals,
  validator,
} from './internals.js'
import { missingMembers, type RequiredMembers } from './required-members.js'

/** An instance of Sequelize, with a model and a row that are used for nothing else. */
interface Probe {
  readonly sequelize: SequelizeInternals
  readonly model: ModelInternals
  readonly row: InstanceInternals
}

/** The members that Sequelize's types leave out, and that are used. */
const OWNERS: readonly RequiredMembers<Probe>[] = [
  {
    owner: 'Sequelize',
    of: ({ sequelize }) => sequelize,
    members: { options: 'object', dialect: 'object', connectionManager: 'object', log: 'function' },
  },
  {
    owner: 'ConnectionManager',
    of: ({ sequelize }) => sequelize.connectionManager,
    members: {
      lib: 'object',
      pool: 'object',
      getConnection: 'function',
      releaseConnection: 'function',
      destroyConnection: 'function',
      _onProcessExit: 'function',
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
    members: { run: 'function', formatError: 'function', handleSelectQuery: 'function' },
  },
  {
    owner: 'QueryGenerator',
    of: ({ sequelize }) => sequelize.dialect.queryGenerator,
    members: {
      OperatorMap: 'object',
      generateTransactionId: 'function',
      quoteIdentifier: 'function',
      quote: 'function',
      selectQuery: 'function',
      escape: 'function',
      handleSequelizeMethod: 'function',
      whereItemsQuery: 'function',
      parseConditionObject: 'function',
      jsonPathExtractionQuery: 'function',
      insertQuery: 'function',
      updateQuery: 'function',
      bulkInsertQuery: 'function',
    },
  },
  {
    owner: 'Model',
    of: ({ model }) => model,
    members: {
      fieldAttributeMap: 'object',
      queryGenerator: 'object',
      bulkBuild: 'function',
      _scope: 'object',
      _hasVirtualAttributes: 'boolean',
      _versionAttribute: 'string',
      _attributeManipulation: 'object',
      _dataTypeSanitizers: 'object',
      _injectScope: 'function',
      _conformIncludes: 'function',
      _expandIncludeAll: 'function',
      _validateIncludedElements: 'function',
    },
  },
  {
    owner: 'Model.prototype',
    of: ({ model }) => model.prototype,
    members: { _customGetters: 'object', _initValues: 'function' },
  },
  {
    owner: 'an instance of a model',
    of: ({ row }) => row,
    members: { _options: 'object', _previousDataValues: 'object', _changed: 'object' },
  },
  { owner: 'Transaction.prototype', of: () => Transaction.prototype, members: { prepareEnvironment: 'function' } },
  { owner: 'STRING(5)', of: () => new DataTypes.STRING(5, true), members: { _length: 'number', _binary: 'boolean' } },
  { owner: 'INTEGER.UNSIGNED', of: () => DataTypes.INTEGER.UNSIGNED, members: { _unsigned: 'boolean' } },
  { owner: 'DECIMAL(5, 2)', of: () => DataTypes.DECIMAL(5, 2), members: { _precision: 'number', _scale: 'number' } },
  {
    owner: 'DATE.prototype',
    of: () => dataTypesOf()?.['DATE']?.prototype,
    members: { _sanitize: 'function', _stringify: 'function' },
  },
  { owner: 'Sequelize.Validator', of: () => validator, members: { isEmail: 'function' } },
  { owner: 'Utils', of: () => ({ cloneDeep }), members: { cloneDeep: 'function' } },
]

/** What one dialect alone must have. */
const OWNERS_OF_DIALECT: Readonly<Record<string, readonly RequiredMembers<Probe>[]>> = {
  sqlite: [
    {
      owner: 'Query.prototype',
      of: ({ sequelize }) => sequelize.dialect.Query.prototype,
      members: { applyParsers: 'function' },
    },
  ],
  postgres: [
    {
      owner: 'RANGE.prototype',
      of: () => dataTypesOf('postgres')?.['RANGE']?.prototype,
      members: { _value: 'function', toCastType: 'function', _stringify: 'function' },
    },
    {
      owner: 'HSTORE.prototype',
      of: () => dataTypesOf('postgres')?.['HSTORE']?.prototype,
      members: { _value: 'function' },
    },
  ],
}

/** What Sequelize must read by itself. */
const READ = [
  { owner: 'Transaction', member: 'connection' },
  { owner: 'Transaction', member: 'finished' },
  { owner: 'Sequelize', member: '_cls' },
] as const

interface UsedMember {
  readonly owner: string
  readonly member: string
}

/** All members that are looked for, of an instance of this dialect. */
export function usedMembers(dialect: string): readonly UsedMember[] {
  const members = ownersOf(dialect).flatMap(({ owner, members }) =>
    Object.keys(members).map((member) => ({ owner, member })),
  )
  return [...members, ...READ]
}

function ownersOf(dialect: string): readonly RequiredMembers<Probe>[] {
  return [...OWNERS, ...(OWNERS_OF_DIALECT[dialect] ?? [])]
}

/**
 * Looks whether the installed Sequelize has everything that is used of it: what is missing would show itself in wrong pages and in queries
 * outside of their transaction.
 *
 * @throws BootError that names each missing member.
 */
export async function checkInternals(sequelize: Sequelize): Promise<void> {
  const probe = probeOf(sequelize)
  const absent = missingMembers(ownersOf(sequelize.getDialect()), probe)
  const missing = [...absent, ...(await unread(probe.sequelize))]
  if (missing.length === 0) return
  throw new BootError(
    `This version of Sequitur works with sequelize 6.37. In the installed version ${installedVersion()} ${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} missing. ` +
      `Install sequelize@~6.37.8, or a version of sequitur that names the installed one.`,
  )
}

// The model belongs to a stand-in of the instance, so that neither its hooks nor its list of models meet it.
function probeOf(sequelize: Sequelize): Probe {
  class SequiturProbe extends Model {}
  const none = () => undefined
  const standIn: Sequelize = Object.create(sequelize, {
    runHooks: { value: none },
    isDefined: { value: () => false },
    modelManager: { value: { addModel: none, getModel: none, removeModel: none } },
  })
  SequiturProbe.init({ name: DataTypes.STRING }, { sequelize: standIn, version: true })
  const model: ModelStatic<Model> = SequiturProbe
  return {
    sequelize: sequelizeInternals(sequelize),
    model: modelInternals(model),
    row: instanceInternals(model.build({ name: '' })),
  }
}

/** What Sequelize does not read: a transaction's connection and end, and the class that models ask for a transaction. */
async function unread(sequelize: SequelizeInternals): Promise<string[]> {
  const checks = READ.map(({ member }) =>
    member === '_cls' ? /\b_cls\b/.test(String(Model.findAll)) : isReadByQuery(sequelize, member),
  )
  const isRead = await Promise.all(checks)
  return READ.flatMap(({ owner, member }, index) => (isRead[index] ? [] : [`${owner}.${member}`]))
}

async function isReadByQuery(sequelize: SequelizeInternals, member: string): Promise<boolean> {
  const wasRead = new Error()
  const get = () => {
    throw wasRead
  }
  const transaction = Object.defineProperty({}, member, { get })
  const error: unknown = await sequelize.query('SELECT 1', { transaction, retry: { max: 1 } }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error === wasRead
}

function installedVersion(): string {
  const { version } = createRequire(import.meta.url)('sequelize/package.json') as { readonly version: string }
  return version
}
