import type { ErrorStatus } from '../core/error-status.js'

export const RETRY = { 'retry-after': '1' }
export const UNAVAILABLE = temporary('The database is not available.')

const TOO_LONG = invalid('A string is too long for the database.')
/** SQLite's message for a pattern of more than 50,000 bytes; its code is that of all mistakes in SQL. */
const LONG_PATTERN = /^SQLITE_ERROR: LIKE or GLOB pattern too complex$/

/**
 * The statuses of errors that the input has caused or that are temporary, by their codes: SQLSTATEs of PostgreSQL, error numbers of MySQL and
 * MariaDB (their drivers have different names for some), result codes of SQLite. docs/errors.md has the same table.
 */
const STATUSES: readonly (readonly [status: ErrorStatus, codes: string])[] = [
  [
    invalid('A value does not have the format that the database requires.'),
    '22007 22009 22P02 1292 1366 SQLITE_MISMATCH',
  ],
  [TOO_LONG, '22001 22026 1406 SQLITE_TOOBIG'],
  [invalid('A number is out of range for the database.'), '22003 1264 1690'],
  [invalid('A date or a time is out of range for the database.'), '22008 22015 1441'],
  [invalid('A string contains a character that the database cannot store.'), '22021 22P05 1300'],
  [invalid('The database cannot store one of the values.'), '22000 1265 1416 3140'],
  [invalid('A pattern ends with a backslash.'), '22025'],
  [invalid('A regular expression is not valid.'), '2201B 1139'],
  [invalid('Lists within a list have different lengths.'), '2202E'],
  [{ status: 409, detail: 'It conflicts with another record.' }, '23P01'],
  [{ status: 409, detail: 'Something still refers to it.' }, '23001'],
  [temporary('Another request changed the same data; try again.'), '40001 40P01 1020 1213'],
  [temporary('Another request holds a lock on the same data; try again.'), '55P03 1205 SQLITE_LOCKED'],
  [temporary('The database is busy; try again.'), 'SQLITE_BUSY'],
  [temporary('The database has changed; try again.'), '0A000 26000 42P05 1412 1615 SQLITE_SCHEMA'],
  [temporary('The database ended an idle transaction.'), '25P03'],
  [temporary('The database ended the statement; try again.'), '1317 SQLITE_INTERRUPT'],
  [temporary('The database cannot be written.'), '25006 1290 1792 1836 SQLITE_READONLY'],
  [{ status: 503, detail: 'The database has no key left for a new record.' }, '2200H 167 1467'],
  [
    UNAVAILABLE,
    '08000 08001 08003 08004 08006 08007 53000 53100 53200 53300 53400 57P01 57P02 57P03 57P04 57P05 58000 58030 ' +
      '58C00 58C01 ' + // of CockroachDB: rows without a live replica, a node that the others do not reach
      '1021 1024 1026 1030 1037 1040 1041 1047 1053 1077 1114 1135 1203 1206 1226 1429 1927 4031 12701 ' +
      'SQLITE_CANTOPEN SQLITE_FULL SQLITE_IOERR SQLITE_NOMEM SQLITE_PROTOCOL ' +
      'ER_CMD_CONNECTION_CLOSED ER_CMD_NOT_EXECUTED_DESTROYED', // of drivers whose connection is closed
  ],
  [{ status: 504, detail: 'The database took too long.' }, '25P04 57014 1969 3024'],
]

const BY_CODE: ReadonlyMap<string, ErrorStatus> = new Map(
  STATUSES.flatMap(([status, codes]) => codes.split(' ').map((code) => [code, status] as const)),
)

/** Such as FOR UPDATE with an aggregate; also of a statement that was prepared before a table was altered. */
const NOT_SUPPORTED = '0A000'
/** The code of a write in a read-only transaction: all transactions on a standby are read-only. */
export const REFUSED_WRITE = '25006'

/** Whether an error of PostgreSQL means that a table was altered after the statement was prepared. */
export function isCachedPlanError({ code, message, routine }: DriverError): boolean {
  // The message may be in the language of the server.
  return code === NOT_SUPPORTED && (routine === 'RevalidateCachedQuery' || /cached plan/.test(message))
}

/** Whether an error of PostgreSQL means that its server is a standby, which has no serializable transactions. */
export function isOfStandby({ code, message, routine }: DriverError): boolean {
  return code === NOT_SUPPORTED && (routine === 'GetSerializableTransactionSnapshot' || /hot standby/.test(message))
}

/** A conflict with another transaction, and of a standby with what it has to replay. */
const CONFLICT = '40001'
const CANCELLED_BY_REPLICA = temporary('A replica cancelled the statement; try again.')

/** Whether an error of PostgreSQL means that a standby has cancelled the statement because of what its primary has done. */
function isRecoveryConflict({ code, message, routine }: DriverError): boolean {
  // The message may be in the language of the server. Conflicts of transactions are found in other routines.
  return (
    code === CONFLICT &&
    (/^Process(?:Interrupts|RecoveryConflict)/.test(String(routine)) || /conflict with recovery/.test(message))
  )
}

/** The driver's error, with the members that identify the mistake. */
interface DriverError extends Error {
  readonly code?: unknown
  readonly errno?: unknown
  /** A property of pg's errors, like the next one. */
  readonly routine?: unknown
  readonly constraint?: unknown
}

/** The status of an error by its code; undefined for a mistake of the program. */
export function statusOfCode({ original }: { readonly original?: Error }): ErrorStatus | undefined {
  const error: DriverError | undefined = original
  if (error === undefined) return undefined
  const { code, errno } = error
  if (LONG_PATTERN.test(error.message)) return TOO_LONG
  if (isRecoveryConflict(error)) return CANCELLED_BY_REPLICA
  if (isOfStandby(error)) return BY_CODE.get(REFUSED_WRITE)
  if (code === NOT_SUPPORTED && !isCachedPlanError(error)) return undefined
  return BY_CODE.get(String(code)) ?? BY_CODE.get(String(errno))
}

/** Which constraint of single rows was violated, if it was one. Keys are not among them. */
export function constraintKindOf({ original }: { readonly original?: Error }): 'check' | 'not null' | undefined {
  return original && KIND_OF_CONSTRAINT.get(codeOfConstraint(original))
}

/** The sentence for a violated CHECK constraint. */
export function checkDetailOf({ original }: { readonly original?: Error }): string {
  const name = original && checkName(original)
  return name === undefined ? 'A constraint is violated.' : `The constraint ${name} is violated.`
}

const KIND_OF_CONSTRAINT: ReadonlyMap<unknown, 'check' | 'not null'> = new Map([
  ...['23514', '44000', 1369, 3819, 4025, 'CHECK'].map((code) => [code, 'check'] as const),
  ...['23502', 1048, 1364, 'NOT NULL'].map((code) => [code, 'not null'] as const),
])

// SQLite has one code for all constraints: SQLITE_CONSTRAINT: CHECK constraint failed: adult
function codeOfConstraint({ code, errno, message }: DriverError): unknown {
  if (code === 'SQLITE_CONSTRAINT') return /^SQLITE_CONSTRAINT: (CHECK|NOT NULL)/.exec(message)?.[1]
  return KIND_OF_CONSTRAINT.has(errno) ? errno : code
}

const SQLITE_CHECK = /^SQLITE_CONSTRAINT: CHECK constraint failed: (.+)/
const MYSQL_CHECK = /CONSTRAINT `([^`]+)` failed|Check constraint '([^']+)' is violated/

/** Names that databases derive from those of the table and the column: hero_age_check, hero_chk_1, hero.age. */
const GENERATED_NAME = /_check\d*$|_chk_\d+$|\./

// SQLite reports the condition of a constraint that has no name: it is not disclosed, as names of columns are not.
function checkName({ constraint, message }: DriverError): string | undefined {
  const [, first, second] = SQLITE_CHECK.exec(message) ?? MYSQL_CHECK.exec(message) ?? []
  const name = typeof constraint === 'string' ? constraint : (first ?? second)
  return name !== undefined && /^[\w$-]+$/.test(name) && !GENERATED_NAME.test(name) ? name : undefined
}

function invalid(detail: string): ErrorStatus {
  return { status: 422, detail }
}

function temporary(detail: string): ErrorStatus {
  return { status: 503, detail, headers: RETRY }
}
