import type { ClientTokenPlace } from '../../core/client-token.js'
import { refuseShortSecret } from '../../core/cursor-secret.js'
import { variable, variableNames } from '../../core/environment.js'
import { meant } from '../../core/options.js'
import { DatabaseStartError } from '../errors.js'
import { type OptionType, optionTypes, wholeNumber } from './url-options.js'

const PREFIX = 'toolkit_'

const flag: OptionType<boolean> = {
  expects: 'true or false',
  read: (value) => (/^(true|1|yes|on)$/i.test(value) ? true : /^(false|0|no|off)$/i.test(value) ? false : undefined),
}

const tokenPlace: OptionType<ClientTokenPlace> = {
  expects: 'cookie or header',
  read: (value) => (value === 'cookie' || value === 'header' ? value : undefined),
}

/** The variables of options, with the values that they take: those of the URL. */
const OPTIONS = {
  toolkit_sync: flag,
  toolkit_echo: flag,
  toolkit_fast_path: flag,
  toolkit_replica_fallback: flag,
  toolkit_read_your_writes: tokenPlace,
  toolkit_pool_size: optionTypes.pool_size,
  toolkit_pool_timeout: optionTypes.pool_timeout,
  toolkit_connect_timeout: optionTypes.connect_timeout,
  toolkit_statement_timeout: optionTypes.statement_timeout,
  toolkit_lock_timeout: optionTypes.lock_timeout,
  toolkit_idle_in_transaction_timeout: optionTypes.idle_in_transaction_timeout,
  toolkit_start_timeout: optionTypes.timeout,
  toolkit_file_mode: optionTypes.file_mode,
  toolkit_processes: wholeNumber(1),
  toolkit_job_lease: wholeNumber(500),
  toolkit_feed_keep: wholeNumber(1_000),
} as const

type OptionVariable = keyof typeof OPTIONS

/** The variables whose text is checked where it is used. */
const TEXTS = ['toolkit_url', 'toolkit_replicas', 'toolkit_cursor_secret'] as const

/** The value of an option in the environment; undefined for a variable that is not set, or empty. */
export function fromEnvironment<Name extends OptionVariable>(
  name: Name,
): ReturnType<(typeof OPTIONS)[Name]['read']> | undefined {
  const { read } = OPTIONS[name]
  // The type of a value is lost where the name may be any.
  return read(variable(name) ?? '') as ReturnType<(typeof OPTIONS)[Name]['read']> | undefined
}

/** @throws DatabaseStartError that names each variable of this package that does not exist, or has a wrong value. BootError for a secret that is too short. */
export function checkEnvironment(): void {
  const problems = variableNames()
    .filter((name) => name.toLowerCase().startsWith(PREFIX))
    .flatMap((name) => problemOf(name) ?? [])
  if (problems.length > 0) throw new DatabaseStartError(problems.join('\n'))
  refuseShortSecret(variable('toolkit_cursor_secret') || undefined, 'toolkit_cursor_secret')
}

function problemOf(name: string): string | undefined {
  const known = [...TEXTS, ...Object.keys(OPTIONS)]
  const option = known.find((other) => other === name.toLowerCase())
  if (option === undefined) return `There is no environment variable ${name}. ${meant(name, known)}`
  const value = variable(name)
  if (!isOption(option) || value === undefined || value === '' || OPTIONS[option].read(value) !== undefined) return
  return `The environment variable ${name} is '${value}'. Write ${OPTIONS[option].expects}.`
}

function isOption(name: string): name is OptionVariable {
  return Object.hasOwn(OPTIONS, name)
}
