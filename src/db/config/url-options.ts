import { defined } from '../../core/records.js'
import { DatabaseUrlError } from '../errors.js'

export interface PoolOptions {
  /** The most connections open at once: `pool_size` plus `max_overflow`. */
  readonly poolSize?: number
  /** Milliseconds to wait for a free connection (`pool_timeout`, in seconds). */
  readonly poolTimeout?: number
  /** Whether the SQL is logged. */
  readonly echo?: boolean
}

export interface ServerOptions extends PoolOptions {
  /** Whether statements with values are prepared on the connection (`prepared_statements`). Undefined: wherever that is possible. */
  readonly preparedStatements?: boolean
  /** Milliseconds to open a connection to a server (`connect_timeout`, in seconds). */
  readonly connectTimeout?: number
  /** Milliseconds after which the server cancels a statement (`statement_timeout`, in seconds); 0 for no limit. */
  readonly statementTimeout?: number
  /** Milliseconds that a statement waits for a lock (`lock_timeout`, in seconds); 0 for no limit. */
  readonly lockTimeout?: number
  /** Milliseconds after which the server ends a transaction that sends no statements (`idle_in_transaction_timeout`, in seconds); 0 for no limit. */
  readonly idleInTransactionTimeout?: number
}

export interface SqliteOptions extends PoolOptions {
  /** Milliseconds to wait for a lock that another process holds (`timeout`, in seconds). */
  readonly busyTimeout?: number
  /** The permissions of a file that is created (`file_mode`, in octal). */
  readonly fileMode?: number
}

/** `ro` refuses writes, `rw` refuses to create the file, `rwc` creates it. */
export type SqliteMode = 'ro' | 'rw' | 'rwc'

/**
 * With the meaning that libpq gives them, for every server: `require` encrypts and checks no certificate, `verify-ca` checks
 * that a trusted authority has signed the certificate, `verify-full` also that it names this host.
 */
export type SslMode = 'disable' | 'require' | 'verify-ca' | 'verify-full'

/**
 * Which of several servers is used, with libpq's meanings: `read-write` accepts writes, `read-only` refuses them; a `primary` is not in recovery, a
 * `standby` is. `prefer-standby` uses a primary while there is no standby.
 */
export type TargetServer = 'any' | 'read-write' | 'read-only' | 'primary' | 'standby' | 'prefer-standby'

/** UTF-8 with or without characters above U+FFFF, such as emoji. */
export type MysqlCharset = 'utf8mb4' | 'utf8'

interface OptionSource {
  /** Where the URL comes from, for messages. */
  readonly where: string
  readonly dialect: string
  readonly query: string
}

/** The texts that an option accepts, and the value of each. */
export interface OptionType<T> {
  readonly expects: string
  /** Returns undefined for a value that is not as expected. */
  readonly read: (value: string) => T | undefined
}

const booleanOption: OptionType<boolean> = {
  expects: 'true or false',
  read: (value) => (/^(true|1)$/i.test(value) ? true : /^(false|0)$/i.test(value) ? false : undefined),
}

export const FILE_MODES = 'an octal mode that lets the owner read and write, such as 0600 or 0640'

/** Permissions in octal, as in chmod; undefined for any other string. */
export function readFileMode(mode: string): number | undefined {
  return /^0?[67][0-7]{2}$/.test(mode) ? Number.parseInt(mode, 8) : undefined
}

export const optionTypes = {
  // Accepted and ignored: an option of Python's driver in the URLs of Python programs.
  check_same_thread: booleanOption,
  mode: oneOf<SqliteMode>(['ro', 'rw', 'rwc']),
  timeout: seconds(0),
  file_mode: { expects: FILE_MODES, read: readFileMode },
  host: matching(/^\//, 'the absolute directory of a unix socket. Write the name of a host before the database'),
  sslmode: oneOf<SslMode>(
    ['disable', 'require', 'verify-ca', 'verify-full'],
    '; prefer and allow are refused, because they silently connect without encryption: write require if the server has TLS',
  ),
  target_session_attrs: oneOf<TargetServer>(['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby']),
  application_name: matching(/./, 'a name'),
  charset: oneOf<MysqlCharset>(['utf8mb4', 'utf8'], '; in other charsets the drivers send some letters as quotes'),
  pool_size: wholeNumber(1),
  max_overflow: wholeNumber(0),
  pool_timeout: seconds(0.001),
  connect_timeout: seconds(0.001),
  prepared_statements: booleanOption,
  statement_timeout: seconds(0),
  lock_timeout: seconds(0),
  idle_in_transaction_timeout: seconds(0),
  echo: booleanOption,
} as const

type OptionName = keyof typeof optionTypes
type OptionValues = { readonly [Name in OptionName]?: NonNullable<ReturnType<(typeof optionTypes)[Name]['read']>> }

export const poolOptionNames = ['pool_size', 'max_overflow', 'pool_timeout', 'echo'] as const

/** Options of databases that are servers. */
export const serverOptionNames = [
  ...poolOptionNames,
  'prepared_statements',
  'connect_timeout',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_timeout',
] as const

// The default of SQLAlchemy and of Sequelize, for a URL that has only max_overflow.
const defaultPoolSize = 5

export function serverOptions(values: OptionValues): ServerOptions {
  const { prepared_statements, connect_timeout, statement_timeout, lock_timeout, idle_in_transaction_timeout } = values
  const named = {
    preparedStatements: prepared_statements,
    connectTimeout: connect_timeout,
    statementTimeout: statement_timeout,
    lockTimeout: lock_timeout,
    idleInTransactionTimeout: idle_in_transaction_timeout,
  }
  return { ...poolOptions(values), ...defined(named) }
}

export function poolOptions({ pool_size, max_overflow, pool_timeout, echo }: OptionValues): PoolOptions {
  const sized = pool_size !== undefined || max_overflow !== undefined
  const poolSize = sized ? (pool_size ?? defaultPoolSize) + (max_overflow ?? 0) : undefined
  return defined({ poolSize, poolTimeout: pool_timeout, echo })
}

export function readOptions({ query, where, dialect }: OptionSource, allowed: readonly OptionName[]): OptionValues {
  const given = new URLSearchParams(query)
  const read = (name: string) => {
    const option = allowed.find((known) => known === name)
    if (!option)
      throw new DatabaseUrlError(where, `${dialect} has no option "${name}". The options are ${listed(allowed)}.`)
    const [first = '', ...more] = given.getAll(option)
    if (more.length) throw new DatabaseUrlError(where, `the option ${option} appears twice. Write it once.`)
    const value = optionTypes[option].read(first)
    if (value !== undefined) return [option, value]
    throw new DatabaseUrlError(where, `the option ${option} takes ${optionTypes[option].expects}.`)
  }
  // Object.fromEntries() loses which value belongs to which name.
  return Object.fromEntries([...given.keys()].map(read)) as OptionValues
}

function oneOf<T extends string>(values: readonly T[], remark = ''): OptionType<T> {
  return {
    // Only for an error: the first Intl.ListFormat takes longer than all else that this file does.
    get expects() {
      return `${listed(values, 'or')}${remark}`
    },
    read: (text) => values.find((value) => value === text),
  }
}

function matching(pattern: RegExp, expects: string): OptionType<string> {
  return { expects, read: (value) => (pattern.test(value) && !value.includes('\0') ? value : undefined) }
}

export function wholeNumber(least: number): OptionType<number> {
  const read = (value: string) => (/^\d{1,6}$/.test(value) && Number(value) >= least ? Number(value) : undefined)
  return { expects: `a whole number from ${least} to 999999`, read }
}

/** Seconds in the URL, as in SQLAlchemy; milliseconds in the result. */
function seconds(least: number): OptionType<number> {
  // Six digits are below the longest timer of Node, 2147483 seconds.
  const read = (value: string) =>
    /^\d{1,6}(\.\d+)?$/.test(value) && Number(value) >= least ? Math.round(Number(value) * 1000) : undefined
  return { expects: `a number of seconds from ${least} to 999999, such as 2.5`, read }
}

/** `a, b, and c` */
export function listed(words: readonly string[], joinedBy: 'and' | 'or' = 'and'): string {
  return new Intl.ListFormat('en', { type: joinedBy === 'and' ? 'conjunction' : 'disjunction' }).format(words)
}
