import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConnection as connectMariadb } from 'mariadb'
import { createConnection as connectMysql2 } from 'mysql2'
import * as pg from 'pg'
import sqlite3 from 'sqlite3'
import {
  commandClassOf,
  type MariadbCommandInternals,
  type MariadbCore,
  mariadbCoreOf,
  type MariadbOptions,
} from '../../src/db/drivers/mysql.js'
import {
  type ClientInternals,
  clientInternals,
  type ConnectionInternals,
  type QueryInternals,
  Result,
  type ResultInternals,
} from '../../src/db/drivers/pg.js'
import { type MemberKind, missingMembers, type RequiredMembers } from '../support/required-members.js'

/** One kind for each member of a type: the compiler reports a member that is not checked here. */
type KindsOf<T> = Readonly<Record<keyof T, MemberKind>>

const CLIENT: KindsOf<ClientInternals> = {
  connection: 'object',
  processID: 'any', // null before the connection is open
  secretKey: 'any',
  _sentQueryQueue: 'object',
  _queryQueue: 'object',
  _getActiveQuery: 'function',
  getStartupConf: 'function',
}

const RESULT: KindsOf<Omit<ResultInternals, '_parsers'>> = {
  command: 'any', // null at first
  rows: 'object',
  fields: 'object',
  _types: 'any', // set by the client
  addFields: 'function',
  parseRow: 'function',
}

const QUERY: KindsOf<QueryInternals> = {
  _result: 'object',
  _results: 'object',
  name: 'string',
  text: 'string',
  callback: 'function',
  submit: 'function',
  handleRowDescription: 'function',
  handleDataRow: 'function',
  handleCommandComplete: 'function',
  handleReadyForQuery: 'function',
  handleError: 'function',
}

const CONNECTION: KindsOf<ConnectionInternals> = {
  stream: 'object',
  parsedStatements: 'object',
  submittedNamedStatements: 'object',
  query: 'function',
  parse: 'function',
  bind: 'function',
  describe: 'function',
  execute: 'function',
  flush: 'function',
  sync: 'function',
  close: 'function',
  connect: 'function',
  requestSsl: 'function',
  cancel: 'function',
}

const PG: readonly RequiredMembers<typeof pg>[] = [
  { owner: 'pg', of: (library) => library, members: { Connection: 'function' } },
  { owner: 'utils', of: () => Reflect.get(pg.default, 'utils'), members: { prepareValue: 'function' } },
  {
    owner: 'Client',
    of: ({ Client }) => new Client(), // opens no connection
    // The last three are in pg's types, but not in every pg 8.
    members: { ...CLIENT, pipeline: 'boolean', getTransactionStatus: 'function', getTypeParser: 'function' },
  },
  { owner: 'Query', of: ({ Query }) => new Query({ name: 'a', text: '' }, () => {}), members: QUERY },
  { owner: 'Result', of: () => new Result('', {}), members: RESULT },
  { owner: 'Connection', of: ({ Client }) => clientInternals(new Client()).connection, members: CONNECTION },
]

const SQLITE3: readonly RequiredMembers<typeof sqlite3>[] = [
  {
    owner: 'sqlite3',
    of: (library) => library,
    members: {
      Database: 'function',
      Statement: 'function',
      OPEN_READONLY: 'number',
      OPEN_READWRITE: 'number',
      OPEN_CREATE: 'number',
    },
  },
  {
    owner: 'Database.prototype',
    of: ({ Database }) => Database.prototype,
    members: {
      all: 'function',
      run: 'function',
      exec: 'function',
      close: 'function',
      configure: 'function',
      interrupt: 'function',
      wait: 'function',
    },
  },
  {
    owner: 'Statement.prototype',
    of: ({ Statement }) => Statement.prototype,
    members: { all: 'function', run: 'function', get: 'function', finalize: 'function' },
  },
]

const CORE: KindsOf<MariadbCore> = {
  socket: 'object',
  opts: 'object',
  info: 'object',
  query: 'function',
  addCommand: 'function',
  fatalError: 'function',
  _logAndReject: 'function',
}

const CORE_OPTIONS: Partial<KindsOf<MariadbOptions>> = {
  multipleStatements: 'boolean',
  metaAsArray: 'boolean',
  pipelining: 'boolean',
}

const COMMAND: KindsOf<Omit<MariadbCommandInternals, '_columns'>> = {
  opts: 'object',
  setParser: 'function',
  readCastValue: 'function',
}

const MARIADB: readonly RequiredMembers<MariadbCore>[] = [
  { owner: 'core', of: (core) => core, members: CORE },
  { owner: 'opts', of: (core) => core.opts, members: CORE_OPTIONS },
  {
    owner: 'command',
    of: (core) => new (commandClassOf(core))(ignore, ignore, core.opts, { sql: 'SELECT 1' }),
    members: COMMAND,
  },
]

const ignore = () => {}

test('the installed pg has all members that are used', () => {
  assert.deepEqual(missingMembers(PG, pg), [])
})

test('the installed sqlite3 has all members that are used', () => {
  assert.deepEqual(missingMembers(SQLITE3, sqlite3), [])
})

test('a member of a driver that is missing is found', () => {
  const library = { ...pg, Connection: undefined } as unknown as typeof pg
  assert.deepEqual(missingMembers(PG, library), ['pg.Connection'])
})

const mariadb = process.env['TEST_MARIADB_URL'] ?? ''
const skip = mariadb ? false : 'no TEST_MARIADB_URL'

test('the installed mariadb has all members that are used', { skip }, async () => {
  const connection = await connectMariadb(mariadb)
  try {
    const core = mariadbCoreOf(connection)
    assert.ok(core)
    assert.deepEqual(missingMembers(MARIADB, core), [])
  } finally {
    await connection.end()
  }
})

test(
  'a connection of mysql2 has all members that are used, and is not taken for one of mariadb',
  { skip },
  async () => {
    const connection = connectMysql2(mariadb.replace(/^mariadb:/, 'mysql:'))
    const members = { query: 'function', execute: 'function', destroy: 'function' } as const
    try {
      assert.deepEqual(missingMembers([{ owner: 'Connection', of: (one) => one, members }], connection), [])
      assert.equal(mariadbCoreOf(connection), undefined)
    } finally {
      await new Promise((resolve) => connection.end(resolve))
    }
  },
)
