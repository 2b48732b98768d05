import {
  AggregateError,
  BulkRecordError,
  ConnectionAcquireTimeoutError,
  ConnectionError,
  DatabaseError,
  ForeignKeyConstraintError,
  type Model,
  UniqueConstraintError,
  ValidationError,
  type ValidationErrorItem,
} from 'sequelize'
import type { ErrorStatus, FieldIssue } from '../core/error-status.js'
import { BROKEN_SOCKET, codeOf } from './dialect.js'
import { CommitUnknownError } from './errors.js'
import { ruleMessage } from './models/column-checks.js'
import { modelOf } from './sequelize/internals.js'

const RETRY = { 'retry-after': '1' }
const UNAVAILABLE: ErrorStatus = { status: 503, detail: 'The database is not available.', headers: RETRY }
const TIMEOUT: ErrorStatus = { status: 504, detail: 'The database took too long.' }
const CONFLICT: ErrorStatus = {
  status: 503,
  detail: 'Another request changed the same data; try again.',
  headers: RETRY,
}
const LOCKED: ErrorStatus = {
  status: 503,
  detail: 'Another request holds a lock on the same data; try again.',
  headers: RETRY,
}
const MIGRATED: ErrorStatus = { status: 503, detail: 'The database has changed; try again.', headers: RETRY }
const TOO_LONG: ErrorStatus = { status: 422, detail: 'A string is too long for the database.' }
const OUT_OF_RANGE: ErrorStatus = { status: 422, detail: 'A number is out of range for the database.' }

/** The SQLSTATEs of PostgreSQL, and the codes of SQLite and MySQL, of errors that the input has caused or that are temporary. */
const BY_CODE: ReadonlyMap<string, ErrorStatus> = new Map<string, ErrorStatus>([
  ['22003', OUT_OF_RANGE],
  ['22001', TOO_LONG],
  ['22021', { status: 422, detail: 'A string contains a character that the database cannot store.' }],
  ['22000', { status: 422, detail: 'The database cannot store one of the values.' }],
  ['22025', { status: 422, detail: 'A pattern ends with a backslash.' }],
  ['2202E', { status: 422, detail: 'Lists within a list have different lengths.' }],
  ['22P02', { status: 422, detail: 'A value does not have the format that the database requires.' }],
  ['57014', TIMEOUT],
  ['57P01', UNAVAILABLE],
  ['57P02', UNAVAILABLE],
  ['57P03', UNAVAILABLE],
  ['08003', UNAVAILABLE],
  ['08006', UNAVAILABLE],
  ['40001', CONFLICT],
  ['40P01', CONFLICT],
  ['26000', MIGRATED],
  ['42P05', MIGRATED],
  ['0A000', MIGRATED],
  ['55P03', LOCKED],
  ['25P03', { status: 503, detail: 'The database ended an idle transaction.', headers: RETRY }],
  ['ER_LOCK_WAIT_TIMEOUT', LOCKED],
  ['ER_LOCK_DEADLOCK', CONFLICT],
  ['ER_CHECKREAD', CONFLICT],
  ['ER_CMD_CONNECTION_CLOSED', UNAVAILABLE],
  ['ER_CMD_NOT_EXECUTED_DESTROYED', UNAVAILABLE],
  ['ER_CONNECTION_KILLED', UNAVAILABLE],
  ['1927', UNAVAILABLE],
  ['ER_SERVER_SHUTDOWN', UNAVAILABLE],
  ['1969', TIMEOUT],
  ['ER_STATEMENT_TIMEOUT', TIMEOUT],
  ['ER_QUERY_TIMEOUT', TIMEOUT],
  ['ER_QUERY_INTERRUPTED', { status: 503, detail: 'The database ended the statement; try again.', headers: RETRY }],
  ['ER_DATA_TOO_LONG', TOO_LONG],
  ['ER_WARN_DATA_OUT_OF_RANGE', OUT_OF_RANGE],
  ['SQLITE_READONLY', { status: 503, detail: 'The database cannot be written.', headers: RETRY }],
  ['SQLITE_IOERR', UNAVAILABLE],
  ['SQLITE_BUSY', { status: 503, detail: 'The database is busy; try again.', headers: RETRY }],
  ['SQLITE_FULL', UNAVAILABLE],
])

/** The status and the sentence for the client; undefined for a mistake of the program, and for an error that is not of the database. */
export function findErrorStatus(error: unknown): ErrorStatus | undefined {
  if (error instanceof CommitUnknownError)
    return { status: 503, detail: 'It is not known whether this was saved. Check before you try again.' }
  if (error instanceof UniqueConstraintError && isUnique(error))
    return { status: 409, detail: 'It exists already.', fields: issuesOf(error) }
  if (error instanceof ForeignKeyConstraintError)
    return { status: 409, detail: 'It refers to something that does not exist, or something still refers to it.' }
  if (error instanceof ValidationError) return invalid(issuesOf(error))
  if (error instanceof AggregateError && error.errors.every(isInvalidRecord))
    return invalid(error.errors.flatMap(({ errors }) => issuesOf(errors)))
  if (error instanceof ConnectionAcquireTimeoutError)
    return { status: 503, detail: 'The server is busy; try again.', headers: RETRY }
  if (error instanceof ConnectionError || isLostConnection(error)) return BY_CODE.get(codeOf(error)) ?? UNAVAILABLE
  return error instanceof DatabaseError ? BY_CODE.get(codeOf(error)) : undefined
}

// On SQLite, Sequelize reports every violated constraint but a foreign key as a UniqueConstraintError.
function isUnique({ original }: UniqueConstraintError): boolean {
  return !/SQLITE_CONSTRAINT: (?:NOT NULL|CHECK)/.test(original?.message ?? '')
}

function invalid(fields: readonly FieldIssue[]): ErrorStatus {
  return { status: 422, detail: 'A value is not valid.', fields }
}

// bulkCreate(rows, { validate: true }) throws one for each row. The type of `errors` is Error, but that of validation is a ValidationError.
function isInvalidRecord(error: Error): error is BulkRecordError & { readonly errors: ValidationError } {
  return error instanceof BulkRecordError && error.errors instanceof ValidationError
}

function issuesOf({ errors }: ValidationError): FieldIssue[] {
  return errors.map((item) => ({ field: fieldOf(item), message: messageOf(item) }))
}

function fieldOf({ path, instance }: ValidationErrorItem): string | undefined {
  const field = path ? attributeOf(path, instance) : undefined
  if (!instance || field === undefined) return field
  return field in modelOf(instance).getAttributes() ? field : undefined // a validator of the whole row has a name, but no field
}

// Sequelize's own messages contain the name of the model.
function messageOf({ message, type, path, validatorName, validatorArgs }: ValidationErrorItem): string {
  if (/^notnull violation$/i.test(type ?? '') && message.endsWith(`.${path} cannot be null`)) return 'is required'
  if (type === 'string violation') return 'must be a string'
  return validatorName && message === `Validation ${validatorName} on ${path} failed`
    ? ruleMessage(validatorName, validatorArgs)
    : message
}

// PostgreSQL reports the column; the client knows the name of the attribute.
function attributeOf(column: string, instance: Model | null): string {
  const attributes = Object.entries(instance ? modelOf(instance).getAttributes() : {})
  return attributes.find(([, { field }]) => field === column)?.[0] ?? column
}

// The error of pg for a broken socket has no code, only a message.
function isLostConnection(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  return (
    BROKEN_SOCKET.has(codeOf(error)) ||
    /not queryable|Connection terminated|closed state|Connection lost|socket has unexpectedly/i.test(error.message)
  )
}
