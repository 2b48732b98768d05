import {
  AggregateError,
  BulkRecordError,
  ConnectionAcquireTimeoutError,
  ConnectionError,
  DatabaseError,
  ForeignKeyConstraintError,
  type Model,
  OptimisticLockError,
  UniqueConstraintError,
  ValidationError,
  type ValidationErrorItem,
} from 'sequelize'
import type { ErrorStatus, FieldIssue } from '../core/error-status.js'
import { violationOf } from './models/violation.js'
import { isLostConnection } from './dialect.js'
import { checkDetailOf, constraintKindOf, RETRY, statusOfCode, UNAVAILABLE } from './error-codes.js'
import {
  CommitFailedError,
  CommitUnknownError,
  ImpossibleValueError,
  StatementRefusedError,
  WriteUnknownError,
} from './errors.js'
import { MAX_ISSUES } from '../schema/shape/issue.js'
import { ruleMessage } from './models/column-checks.js'
import { modelOf } from './sequelize/internals.js'

/** The status and the sentence for the client; undefined for a mistake of the program, and for an error that is not of the database. */
export function findErrorStatus(error: unknown): ErrorStatus | undefined {
  if (error instanceof CommitUnknownError || error instanceof WriteUnknownError)
    return { status: 503, detail: 'It is not known whether this was saved. Check before you try again.' }
  if (error instanceof StatementRefusedError || error instanceof CommitFailedError) return ofServer(error.cause)
  if (error instanceof OptimisticLockError)
    return { status: 409, detail: 'Another request has changed it since it was read; read it again.' }
  // On SQLite, Sequelize reports every violated constraint but a foreign key as a UniqueConstraintError.
  if (error instanceof UniqueConstraintError) return statusOfConstraint(error) ?? statusOfCode(error) ?? taken(error)
  if (error instanceof ForeignKeyConstraintError) return statusOfReference(error)
  if (error instanceof ValidationError) return invalid(issuesOf(error))
  if (error instanceof AggregateError && error.errors.every(isInvalidRecord))
    return invalid(error.errors.slice(0, MAX_ISSUES).flatMap(({ errors }) => issuesOf(errors)))
  if (error instanceof ConnectionAcquireTimeoutError)
    return { status: 503, detail: 'The server is busy; try again.', headers: RETRY }
  if (error instanceof ConnectionError || isLostConnection(error)) return statusOfCode(error) ?? UNAVAILABLE
  if (error instanceof ImpossibleValueError && error.field !== undefined)
    return invalid([{ field: error.field, message: 'is not a value of its column' }])
  return error instanceof DatabaseError ? (statusOfConstraint(error) ?? statusOfCode(error)) : undefined
}

function taken(error: UniqueConstraintError): ErrorStatus {
  const { fields, message } = violationOf(error)
  return {
    status: 409,
    detail: 'It exists already.',
    fields: fields.map((field) => ({ field, message: message ?? `${field} must be unique`, rule: 'unique' })),
    detailOf: (inputs) => `It exists already: another one has the same ${inputs.join(' and ')}.`,
  }
}

function statusOfReference(error: ForeignKeyConstraintError): ErrorStatus {
  const detail = 'It refers to something that does not exist, or something still refers to it.'
  if (!isOfReferringRow(error)) return { status: 409, detail }
  return {
    status: 409,
    detail,
    fields: violationOf(error).fields.map((field) => ({
      field,
      message: 'refers to something that does not exist',
      rule: 'foreignKey',
    })),
    detailOf: (inputs) => `It refers to something that does not exist: ${inputs.join(' and ')}.`,
  }
}

const NO_REFERENCED_ROW: ReadonlySet<unknown> = new Set([1216, 1452])

// PostgreSQL says it in the language of the server; what is inserted cannot be referred to yet.
function isOfReferringRow({ original, sql }: ForeignKeyConstraintError): boolean {
  const { errno, detail }: Error & { readonly errno?: unknown; readonly detail?: unknown } = original
  if (errno !== undefined) return NO_REFERENCED_ROW.has(errno)
  return /is not present in table/.test(String(detail)) || /^\s*INSERT\b/i.test(String(sql))
}

function statusOfConstraint(error: DatabaseError | UniqueConstraintError): ErrorStatus | undefined {
  const kind = constraintKindOf(error)
  if (kind === undefined) return undefined
  const { fields } = violationOf(error)
  if (kind === 'not null') return invalid([{ field: fields[0], message: 'is required', rule: 'required' }])
  const message = 'is not a value that the database allows'
  return {
    status: 422,
    detail: checkDetailOf(error),
    ...(fields.length > 0 ? { fields: fields.map((field) => ({ field, message, rule: 'check' })) } : {}),
  }
}

// The statement whose error was caught may have failed for a temporary reason. Any other error that was caught is a mistake of the program to hide.
function ofServer(cause: unknown): ErrorStatus | undefined {
  const found = findErrorStatus(cause)
  return found && found.status >= 500 ? found : undefined
}

function invalid(fields: readonly FieldIssue[]): ErrorStatus {
  return { status: 422, detail: 'A value is not valid.', fields }
}

// bulkCreate(rows, { validate: true }) throws one for each row. The type of `errors` is Error, but that of validation is a ValidationError.
function isInvalidRecord(error: Error): error is BulkRecordError & { readonly errors: ValidationError } {
  return error instanceof BulkRecordError && error.errors instanceof ValidationError
}

function issuesOf({ errors }: ValidationError): FieldIssue[] {
  return errors.slice(0, MAX_ISSUES).map((item) => ({ field: fieldOf(item), message: messageOf(item) }))
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
