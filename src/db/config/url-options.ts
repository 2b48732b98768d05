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
  /** Whether statements with values are prepared on the connection (`prepared_statements`); turn it off behind PgBouncer. */
  readonly preparedStatements?: boolean
  /** Milliseconds after which the server gives up a statement (`statement_timeout`, in seconds); 0 for never. */
  readonly statementTimeout?: number
  /** Milliseconds that a statement waits for a lock (`lock_timeout`, in seconds); 0 for ever. */
  readonly lockTimeout?: number
  /** Milliseconds after which the server ends a transaction that does nothing (`idle_in_transaction_timeout`, in seconds); 0 for never. */
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
 * What libpq means by these words, for every server: `require` encrypts and checks no certificate, `verify-ca` checks
 * that a trusted authority signed it, `verify-full` also that it was made out to this host.
 */
export type SslMode = 'disable' | 'require' | 'verify-ca' | 'verify-full'

/** UTF-8 with or without characters beyond 16 bits. */
export type MysqlCharset = 'utf8mb4' | 'utf8'

/** Where options stand, for reading and for messages. */
interface OptionSource {
  readonly where: string
  readonly dialect: string
  readonly query: string
}

interface OptionType<T> {
  readonly expects: string
  /** Undefined when the text is not what is expected. */
  readonly read: (text: string) => T | undefined
}

const flag: OptionType<boolean> = {
  expects: 'true or false',
  read: (text) => (/^(true|1)$/i.test(text) ? true : /^(false|0)$/i.test(text) ? false : undefined),
}

export const FILE_MODES = 'an octal mode in which the owner reads and writes, as in 0600 or 0640'

/** Permissions in octal, as chmod takes them; undefined for any other text. */
export function readFileMode(text: string): number | undefined {
  return /^0?[67][0-7]{2}$/.test(text) ? Number.parseInt(text, 8) : undefined
}

const optionTypes = {
  // What it switches off in Python's driver does not exist here.
  check_same_thread: flag,
  mode: oneOf<SqliteMode>(['ro', 'rw', 'rwc']),
  timeout: seconds(0),
  file_mode: { expects: FILE_MODES, read: readFileMode },
  host: text(/^\//, 'the absolute directory of a unix socket; a host by its name goes before the database'),
  sslmode: oneOf<SslMode>(
    ['disable', 'require', 'verify-ca', 'verify-full'],
    '; prefer and allow are refused, because they go on without encryption unnoticed: write require where the server has TLS',
  ),
  application_name: text(/./, 'a name'),
  charset: oneOf<MysqlCharset>(['utf8mb4', 'utf8'], '; in others the drivers send some letters as quotes'),
  pool_size: wholeNumber(1),
  max_overflow: wholeNumber(0),
  pool_timeout: seconds(0.001),
  prepared_statements: flag,
  statement_timeout: seconds(0),
  lock_timeout: seconds(0),
  idle_in_transaction_timeout: seconds(0),
  echo: flag,
} as const

type OptionName = keyof typeof optionTypes
type OptionValues = { readonly [Name in OptionName]?: NonNullable<ReturnType<(typeof optionTypes)[Name]['read']>> }

export const poolOptionNames = ['pool_size', 'max_overflow', 'pool_timeout', 'echo'] as const

/** Options of databases that are servers. */
export const serverOptionNames = [
  ...poolOptionNames,
  'prepared_statements',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_timeout',
] as const

// What SQLAlchemy and Sequelize both take when nothing is said.
const defaultPoolSize = 5

export function serverOptions(values: OptionValues): ServerOptions {
  const { prepared_statements, statement_timeout, lock_timeout, idle_in_transaction_timeout } = values
  const named = {
    preparedStatements: prepared_statements,
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
    if (!option) throw new DatabaseUrlError(where, `${dialect} has no option "${name}". There are ${listed(allowed)}.`)
    const [text = '', ...more] = given.getAll(option)
    if (more.length) throw new DatabaseUrlError(where, `the option ${option} is given twice. Write it once.`)
    const value = optionTypes[option].read(text)
    if (value !== undefined) return [option, value]
    throw new DatabaseUrlError(where, `the option ${option} takes ${optionTypes[option].expects}.`)
  }
  // Each value was read by the row of its own name, which entries cannot say.
  return Object.fromEntries([...given.keys()].map(read)) as OptionValues
}

function oneOf<T extends string>(values: readonly T[], remark = ''): OptionType<T> {
  return { expects: `${listed(values, 'or')}${remark}`, read: (text) => values.find((value) => value === text) }
}

function text(pattern: RegExp, expects: string): OptionType<string> {
  return { expects, read: (value) => (pattern.test(value) && !value.includes('\0') ? value : undefined) }
}

function wholeNumber(least: number): OptionType<number> {
  const read = (text: string) => (/^\d{1,6}$/.test(text) && Number(text) >= least ? Number(text) : undefined)
  return { expects: `a whole number from ${least} to 999999`, read }
}

/** Seconds in the URL, as Python has them; milliseconds here. */
function seconds(least: number): OptionType<number> {
  // Six digits stay below the longest timer of Node, 2147483 seconds.
  const read = (text: string) =>
    /^\d{1,6}(\.\d+)?$/.test(text) && Number(text) >= least ? Math.round(Number(text) * 1000) : undefined
  return { expects: `seconds from ${least} to 999999, as in 2.5`, read }
}

export function listed(texts: readonly string[], word: 'and' | 'or' = 'and'): string {
  return new Intl.ListFormat('en', { type: word === 'and' ? 'conjunction' : 'disjunction' }).format(texts)
}

type Defined<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> }

/** Without the keys whose value is undefined: spread over a default, they would take its place. */
export function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}
