import type { Model } from 'sequelize'
import type { ClientTokenPlace } from '../../core/client-token.js'
import {
  checkOptions,
  either,
  fitting,
  flag,
  integer,
  list,
  milliseconds,
  type OptionChecks,
  text,
} from '../../core/option-checks.js'
import { isRecord } from '../../core/records.js'
import { classes, type Constructor } from '../../di/token.js'
import type { Boundary } from '../boundary.js'
import { FILE_MODES, readFileMode } from './url-options.js'

/**
 * Options of a database. In brackets: the URL parameter and the environment variable for the same option, if there are any.
 * An option in code has precedence over the URL, and the URL over the environment.
 */
export interface LifespanOptions {
  /** The URL to use if neither newLifespan() nor the environment has one. */
  readonly defaultUrl?: string
  /** The models of this database. Those of `createApp({ models })` are added to the first database of the app. */
  readonly models?: readonly Constructor<Model>[]
  /** URLs of replicas, which serve handlers with `@Transactional({ readOnly: true })` (`toolkit_replicas`, separated by commas). */
  readonly replicas?: readonly string[]
  /** The database itself serves these handlers while no replica is available (`toolkit_replica_fallback`). Default false: 503. */
  readonly replicaFallback?: boolean
  /**
   * Clients read their own writes, also from replicas: a response after a write has a token in a cookie, or in the header `sequitur-position`, which
   * the client sends back. A replica that does not have that write yet does not serve it (`toolkit_read_your_writes`). Default: no tokens.
   */
  readonly readYourWrites?: ClientTokenPlace
  /** Creates missing tables at startup; for tests and demos (`toolkit_sync`). Default false. */
  readonly sync?: boolean
  /** The maximum number of connections, on SQLite of readers (`pool_size`, `toolkit_pool_size`). Default 10; on SQLite 3. */
  readonly poolSize?: number
  /** Milliseconds to wait for a connection (`pool_timeout`, `toolkit_pool_timeout`, in seconds). Default 2,000; on SQLite, where one session writes at a time, 10,000. */
  readonly poolTimeout?: number
  /**
   * Milliseconds to open a connection to a server (`connect_timeout`, `toolkit_connect_timeout`, in seconds). Default 5,000; with several hosts or
   * with replicas an equal share of `poolTimeout` for each, at least 500, so that another server can be tried.
   */
  readonly connectTimeout?: number
  /** Milliseconds after which the server cancels a statement; 0 for no limit (`statement_timeout`, `toolkit_statement_timeout`, in seconds). Default 30,000. */
  readonly statementTimeout?: number
  /** Milliseconds that a statement waits for a lock; 0 for no limit (`lock_timeout`, `toolkit_lock_timeout`, in seconds). Default 10,000. */
  readonly lockTimeout?: number
  /** Milliseconds after which the server ends an idle transaction; 0 for no limit (`idle_in_transaction_timeout`, `toolkit_idle_in_transaction_timeout`, in seconds). Default 60,000. */
  readonly idleInTransactionTimeout?: number
  /** Prepares statements with values on PostgreSQL (`prepared_statements`). Default: true; behind PgBouncer, whether it keeps them for each client. */
  readonly preparedStatements?: boolean
  /**
   * The permissions of an SQLite file that is created (`file_mode`, `toolkit_file_mode`, in octal). A folder that is created for it can be entered
   * by those who can read the file. Default 0o600: only by the user that the app runs as. An existing file keeps its permissions.
   */
  readonly fileMode?: number
  /** Milliseconds to wait at startup until the database answers (`toolkit_start_timeout`, in seconds). Default 10,000. */
  readonly startTimeout?: number
  /**
   * How many processes run this app: the app warns at startup if all of their pools together are larger than what the server accepts
   * (`toolkit_processes`). Default 1.
   */
  readonly processes?: number
  /**
   * Sends statements past Sequelize's own query path if the results are the same (`toolkit_fast_path`). Default true. Write false to find
   * out whether an error is caused by it.
   */
  readonly fastPath?: boolean
  /** Limits which rows the sessions reach: `tenancy({ ... })` of `sequitur/tenancy`. Default: no limit. */
  readonly boundary?: Boundary
  /** Logs the SQL (`echo`, `toolkit_echo`). Default false. */
  readonly echo?: boolean
}

const timeout = milliseconds('30_000')
const timeoutOrNone = milliseconds('30_000', 0)

const OPTIONS: OptionChecks<LifespanOptions> = {
  defaultUrl: text(`a URL, such as 'sqlite:///./app.sqlite'`),
  models: classes('Hero'),
  replicas: list(`'postgres://...'`),
  replicaFallback: flag,
  readYourWrites: either('cookie', 'header'),
  sync: flag,
  poolSize: integer('connections', 1, 999_999),
  poolTimeout: timeout,
  connectTimeout: timeout,
  statementTimeout: timeoutOrNone,
  lockTimeout: timeoutOrNone,
  idleInTransactionTimeout: timeoutOrNone,
  preparedStatements: flag,
  // Catches 640 without its 0o: in octal it is 1200, which is no mode of a file.
  fileMode: fitting(
    (mode) => typeof mode === 'number' && readFileMode(mode.toString(8)) === mode,
    `${FILE_MODES}; in code an octal number begins with 0o: 0o640`,
  ),
  startTimeout: timeoutOrNone,
  processes: integer('processes', 1, 999_999),
  fastPath: flag,
  boundary: fitting(
    (boundary) => isRecord(boundary) && 'ofRoute' in boundary,
    `tenancy({ of, column }), imported from 'sequitur/tenancy'`,
  ),
  echo: flag,
}

/** @throws BootError for an option that does not exist or has a wrong value. */
export function checkLifespanOptions(options: LifespanOptions): void {
  checkOptions('newLifespan()', options, OPTIONS)
}
