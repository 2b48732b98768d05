import type { Model } from 'sequelize'
import { BootError } from '../../core/boot-error.js'
import {
  LONGEST,
  NOT_LOADED,
  type OptionNames,
  refuseOtherThanList,
  refuseOtherThanWhole,
  refuseOtherType,
  refuseUnknownOptions,
  shown,
} from '../../core/options.js'
import { type Constructor, isConstructor } from '../../di/token.js'
import { FILE_MODES, readFileMode } from './url-options.js'

/** What can be said of a database in code; the URL and the environment say most of it, too. */
export interface LifespanOptions {
  /** The URL where none is given and the environment names none. */
  readonly defaultUrl?: string
  /** Models of this database; those given to `createApp({ models })` are added. */
  readonly models?: readonly Constructor<Model>[]
  /** URLs of replicas, which serve what is declared `readOnly` (`toolkit_replicas`, separated by commas). */
  readonly replicas?: readonly string[]
  /** Create missing tables at the start: for tests and demos (`toolkit_sync`). Default false. */
  readonly sync?: boolean
  /** The most connections; on SQLite the most readers (`pool_size`, `toolkit_pool_size`). Default 10; on SQLite 3. */
  readonly poolSize?: number
  /** Milliseconds to wait for a connection (`pool_timeout`, `toolkit_pool_timeout`, in seconds). Default 2,000; on SQLite, for the turn to write, 10,000. */
  readonly poolTimeout?: number
  /** Milliseconds after which the server gives up a statement (`statement_timeout`, `toolkit_statement_timeout`, in seconds). Default 30,000. */
  readonly statementTimeout?: number
  /** Milliseconds that a statement waits for a lock (`lock_timeout`, `toolkit_lock_timeout`, in seconds). Default 10,000. */
  readonly lockTimeout?: number
  /** Milliseconds after which the server ends an idle transaction (`idle_in_transaction_timeout`, `toolkit_idle_in_transaction_timeout`, in seconds). Default 60,000. */
  readonly idleInTransactionTimeout?: number
  /** Prepare statements with values on PostgreSQL's connections (`prepared_statements`). Default true; turn it off behind PgBouncer. */
  readonly preparedStatements?: boolean
  /**
   * The permissions of an SQLite file that is created (`file_mode`, `toolkit_file_mode`, in octal), and of a folder that is created for it: who may
   * read the file may enter the folder. Default 0o600: only the user that the app runs as. A file that is there stays as it is.
   */
  readonly fileMode?: number
  /** Milliseconds to go on trying to reach the database at the start (`toolkit_start_timeout`, in seconds). Default 10,000. */
  readonly startTimeout?: number
  /**
   * Send statements past Sequelize's own query path where the results are the same (`toolkit_fast_path`). Default true. Turn it off to find
   * out whether an error comes from there.
   */
  readonly fastPath?: boolean
  /** Log the SQL (`echo`, `toolkit_echo`). Default false. */
  readonly echo?: boolean
}

const OPTIONS: OptionNames<LifespanOptions> = {
  defaultUrl: true,
  models: true,
  replicas: true,
  sync: true,
  poolSize: true,
  poolTimeout: true,
  statementTimeout: true,
  lockTimeout: true,
  idleInTransactionTimeout: true,
  preparedStatements: true,
  fileMode: true,
  startTimeout: true,
  fastPath: true,
  echo: true,
}

/** The least milliseconds of each; 0 where it means for ever. */
const TIMES = {
  poolTimeout: 1,
  statementTimeout: 0,
  lockTimeout: 0,
  idleInTransactionTimeout: 0,
  startTimeout: 0,
} as const

/** @throws BootError for whatever in the options is not what it should be, saying where it is and what to write. */
export function checkLifespanOptions(options: LifespanOptions): void {
  refuseUnknownOptions('newLifespan()', options, OPTIONS)
  refuseOtherThanList(options.models, 'newLifespan(): models', 'Hero')
  for (const [index, model] of (options.models ?? []).entries())
    if (!isConstructor(model))
      throw new BootError(
        `newLifespan(): models[${index}] is ${shown(model)}. ${model === undefined ? NOT_LOADED : 'Write the class itself, as in [Hero].'}`,
      )
  refuseOtherThanList(options.replicas, 'newLifespan(): replicas', `'postgres://...'`)
  for (const name of ['sync', 'echo', 'preparedStatements', 'fastPath'] as const)
    refuseOtherType(`newLifespan(): ${name}`, options[name], 'boolean', 'true or false')
  refuseOtherType('newLifespan(): defaultUrl', options.defaultUrl, 'string', `a URL, such as 'sqlite:///./app.sqlite'`)
  refuseOtherThanWhole(options.poolSize, 'newLifespan(): poolSize', 'connections', 1, 999_999)
  refuseOtherMode(options.fileMode)
  for (const [name, least] of Object.entries(TIMES))
    refuseOtherThanWhole(
      options[name as keyof typeof TIMES],
      `newLifespan(): ${name}`,
      'milliseconds, as in 30_000',
      least,
      LONGEST,
    )
}

// 640 without its 0o is 0o1200: no mode of a file.
function refuseOtherMode(mode: unknown): void {
  if (mode === undefined) return
  if (typeof mode === 'number' && readFileMode(mode.toString(8)) === mode) return
  throw new BootError(`newLifespan(): fileMode is ${shown(mode)}. Write ${FILE_MODES}, in code with 0o: 0o640.`)
}
