import {
  AggregateError,
  BulkRecordError,
  ConnectionAcquireTimeoutError,
  ConnectionError,
  DatabaseError,
  ForeignKeyConstraintError,
  type Model,
  type ModelStatic,
  UniqueConstraintError,
  ValidationError,
  type ValidationErrorItem,
} from 'sequelize'
import type { ErrorStatus, FieldIssue } from '../core/error-status.js'
import { BROKEN_SOCKET, codeOf } from './dialect.js'
import { ruleMessage } from './models/column-checks.js'
import { CommitUnknownError } from './errors.js'

const RETRY = { 'retry-after': '1' }
const UNAVAILABLE: ErrorStatus = { status: 503, detail: 'The database is not available.', headers: RETRY }

/** PostgreSQL's SQLSTATEs, SQLite's codes and MySQL's names of errors that are the input's doing, or pass. */
const BY_CODE: ReadonlyMap<string, ErrorStatus> = new Map<string, ErrorStatus>([
  ['22003', { status: 422, detail: 'A number is out of the range that the database holds.' }],
  ['22001', { status: 422, detail: 'A text is longer than the database holds.' }],
  ['22021', { status: 422, detail: 'A text has a character that the database does not hold.' }],
  ['22000', { status: 422, detail: 'A value is one that the database does not hold.' }],
  ['22025', { status: 422, detail: 'A pattern ends with a backslash.' }],
  ['2202E', { status: 422, detail: 'Lists within a list have different lengths.' }],
  ['22P02', { status: 422, detail: 'A value does not have the form that the database wants.' }],
  ['57014', { status: 504, detail: 'The database took too long.' }],
  ['57P01', UNAVAILABLE],
  ['57P02', UNAVAILABLE],
  ['57P03', UNAVAILABLE],
  ['08003', UNAVAILABLE],
  ['08006', UNAVAILABLE],
  ['40001', { status: 503, detail: 'Another request changed the same data; try again.', headers: RETRY }],
  ['40P01', { status: 503, detail: 'Another request changed the same data; try again.', headers: RETRY }],
  ['26000', { status: 503, detail: 'The database has changed; try again.', headers: RETRY }],
  ['42P05', { status: 503, detail: 'The database has changed; try again.', headers: RETRY }],
  ['0A000', { status: 503, detail: 'The database has changed; try again.', headers: RETRY }],
  ['55P03', { status: 503, detail: 'Another request holds a lock on the same data; try again.', headers: RETRY }],
  ['25P03', { status: 503, detail: 'The database ended an idle transaction.', headers: RETRY }],
  [
    'ER_LOCK_WAIT_TIMEOUT',
    { status: 503, detail: 'Another request holds a lock on the same data; try again.', headers: RETRY },
  ],
  ['ER_LOCK_DEADLOCK', { status: 503, detail: 'Another request changed the same data; try again.', headers: RETRY }],
  ['ER_CHECKREAD', { status: 503, detail: 'Another request changed the same data; try again.', headers: RETRY }],
  ['ER_CMD_CONNECTION_CLOSED', UNAVAILABLE],
  ['ER_CMD_NOT_EXECUTED_DESTROYED', UNAVAILABLE],
  ['ER_CONNECTION_KILLED', UNAVAILABLE],
  ['1927', UNAVAILABLE],
  ['ER_SERVER_SHUTDOWN', UNAVAILABLE],
  ['1969', { status: 504, detail: 'The database took too long.' }],
  ['ER_STATEMENT_TIMEOUT', { status: 504, detail: 'The database took too long.' }],
  ['ER_QUERY_TIMEOUT', { status: 504, detail: 'The database took too long.' }],
  ['ER_QUERY_INTERRUPTED', { status: 503, detail: 'The database ended the statement; try again.', headers: RETRY }],
  ['ER_DATA_TOO_LONG', { status: 422, detail: 'A text is longer than the database holds.' }],
  ['ER_WARN_DATA_OUT_OF_RANGE', { status: 422, detail: 'A number is out of the range that the database holds.' }],
  ['SQLITE_READONLY', { status: 503, detail: 'The database cannot be written.', headers: RETRY }],
  ['SQLITE_IOERR', UNAVAILABLE],
  ['SQLITE_BUSY', { status: 503, detail: 'The database is busy; try again.', headers: RETRY }],
  ['SQLITE_FULL', UNAVAILABLE],
])

/** What a client may be told of a database error; undefined for what is not one, or is the program's mistake. */
export function findErrorStatus(error: unknown): ErrorStatus | undefined {
  if (error instanceof CommitUnknownError)
    return { status: 503, detail: 'It is not known whether this was saved. Look before you try again.' }
  if (error instanceof UniqueConstraintError && isUnique(error))
    return { status: 409, detail: 'It exists already.', fields: issuesOf(error) }
  if (error instanceof ForeignKeyConstraintError)
    return { status: 409, detail: 'Something that it refers to, or that refers to it, stands against it.' }
  if (error instanceof ValidationError) return invalid(issuesOf(error))
  if (error instanceof AggregateError && error.errors.every(isBulkRecordError))
    return invalid(error.errors.flatMap((record) => issuesOf((record as BulkRecordError).errors as ValidationError)))
  if (error instanceof ConnectionAcquireTimeoutError)
    return { status: 503, detail: 'The server is busy; try again.', headers: RETRY }
  if (error instanceof ConnectionError || isLostConnection(error)) return UNAVAILABLE
  return error instanceof DatabaseError ? BY_CODE.get(codeOf(error)) : undefined
}

// Sequelize takes every constraint of SQLite that is no foreign key for a unique one.
function isUnique({ original }: UniqueConstraintError): boolean {
  return !/SQLITE_CONSTRAINT: (?:NOT NULL|CHECK)/.test(original?.message ?? '')
}

function invalid(fields: readonly FieldIssue[]): ErrorStatus {
  return { status: 422, detail: 'A value is not valid.', fields }
}

// What bulkCreate(rows, { validate: true }) throws for each row.
function isBulkRecordError(error: unknown): error is BulkRecordError {
  return error instanceof BulkRecordError && (error.errors as unknown) instanceof ValidationError
}

function issuesOf({ errors }: ValidationError): FieldIssue[] {
  return errors.map((item) => ({ field: fieldOf(item), message: messageOf(item) }))
}

function fieldOf({ path, instance }: ValidationErrorItem): string | undefined {
  const field = path ? attributeOf(path, instance) : undefined
  const attributes = (instance?.constructor as ModelStatic<Model> | undefined)?.getAttributes()
  return attributes && field !== undefined && !(field in attributes) ? undefined : field // a rule of the whole row has a name of its own
}

// Sequelize's own texts name the model.
function messageOf({ message, type, path, validatorName, validatorArgs }: ValidationErrorItem): string {
  if (/^notnull violation$/i.test(type ?? '') && message.endsWith(`.${path} cannot be null`)) return 'is required'
  if (type === 'string violation') return 'must be a string'
  return validatorName && message === `Validation ${validatorName} on ${path} failed`
    ? ruleMessage(validatorName, validatorArgs)
    : message
}

// PostgreSQL names the column, a client knows the attribute.
function attributeOf(column: string, instance: Model | null): string {
  const model = instance?.constructor as ModelStatic<Model> | undefined
  const attributes = Object.entries(model?.getAttributes() ?? {})
  return attributes.find(([, { field }]) => field === column)?.[0] ?? column
}

// pg gives a client whose socket broke no code, only this text.
function isLostConnection(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  return (
    BROKEN_SOCKET.has(codeOf(error)) ||
    /not queryable|Connection terminated|closed state|Connection lost|socket has unexpectedly/i.test(error.message)
  )
}
