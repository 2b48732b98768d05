import { escapeForLog } from '../core/log-text.js'
import { meant } from '../core/options.js'
import type { ChangedJobs, ChosenJobs, JobSummary, ListedJob } from '../http/background.js'
import { type Command, CommandError, refuseMoreWords } from './command.js'
import { DEFAULT_MODULE, type LoadedApp } from './load-app.js'
import { tableOf } from './table.js'
import { jobsOf, workOn } from './work.js'

export const jobs: Command = {
  usage: 'jobs [module] [list | retry <id...> | discard <id...> | work]',
  details: `Opens the database of the app that the module creates, without listening and without running jobs. Without a module: ${DEFAULT_MODULE}.
  list     what is done if no action is named: the queues, and the last jobs that were added; or only the jobs of --state dead, --queue mail,
           --name mail.welcome; --limit 20, and the jobs as JSON with --json
  retry    dead jobs run again, with all of their attempts: by ids, or all with --name mail.welcome
  discard  jobs that wait are dead then, and dead ones are deleted: by ids, or with --name, and with --state for some of them
  work     the same as sequitur work
Exits with 1 if no job was changed.`,
  options: ['state', 'queue', 'name', 'limit'],
  lists: ['state', 'queue'],
  flags: ['json'],
  run,
}

type Jobs = NonNullable<LoadedApp['jobs']>
type Options = Readonly<Record<string, string>>

/** What a command does, and the options that it takes. */
interface Action {
  readonly options: readonly string[]
  run(jobs: Jobs, ids: readonly string[], options: Options, flags: ReadonlySet<string>): Promise<number>
}

const ACTIONS: Readonly<Record<string, Action>> = {
  list: { options: ['state', 'queue', 'name', 'limit', 'json'], run: list },
  retry: {
    options: ['name'],
    run: async (app, ids, options) =>
      report('Retried', await app.retry(chosen(app, 'retry', ids, options)), 'No job was retried'),
  },
  discard: {
    options: ['name', 'state'],
    run: async (app, ids, options) =>
      report('Discarded', await app.discard(chosen(app, 'discard', ids, options)), 'No job was discarded'),
  },
  work: {
    options: ['queue'],
    run: (app, ids, { queue }) => {
      refuseMoreWords(ids, 0, 'sequitur jobs')
      return workOn(app, queue)
    },
  },
}

async function run(words: readonly string[], options: Options, flags: ReadonlySet<string>): Promise<number> {
  const [first = '', ...others] = words
  const [module, name = 'list', ...ids] = isAction(first) ? [DEFAULT_MODULE, ...words] : [first, ...others]
  const action = actionOf(name)
  for (const option of [...Object.keys(options), ...flags])
    if (!action.options.includes(option))
      throw new CommandError(`sequitur jobs ${name} has no option '--${option}'. It has ${listOf(action.options)}.`)
  return action.run(await jobsOf(module || DEFAULT_MODULE), ids, options, flags)
}

function isAction(name: string): boolean {
  return Object.hasOwn(ACTIONS, name)
}

function actionOf(name: string): Action {
  const action = isAction(name) ? ACTIONS[name] : undefined
  if (action) return action
  throw new CommandError(`sequitur jobs has no '${name}'. ${meant(name, Object.keys(ACTIONS))}`)
}

function listOf(options: readonly string[]): string {
  return options.map((option) => `--${option}`).join(', ')
}

const MOST_LISTED = 10_000
/** Characters of the digest of a limit: enough to see which jobs share one. */
const LIMIT_LENGTH = 8

async function list(
  app: Jobs,
  words: readonly string[],
  options: Options,
  flags: ReadonlySet<string>,
): Promise<number> {
  refuseMoreWords(words, 0, 'sequitur jobs')
  const { queue, name, limit = '20' } = options
  if (!/^\d+$/.test(limit) || Number(limit) < 1 || Number(limit) > MOST_LISTED)
    throw new CommandError(`--limit is '${limit}'. Write a number from 1 to ${MOST_LISTED}.`)
  const queues = queue?.split(',') ?? []
  const filter = { states: statesOf(app, options), queues, name, limit: Number(limit) }
  const isOfAll = [...filter.states, ...queues, ...(name === undefined ? [] : [name])].length === 0
  if (isOfAll && !flags.has('json')) process.stdout.write(summaryOf(await app.summary()))
  const found = await app.list(filter)
  process.stdout.write(flags.has('json') ? `${JSON.stringify(found.map(toJson), null, 2)}\n` : textOf(found))
  return 0
}

function statesOf({ states }: Jobs, { state }: Options): readonly string[] {
  const wanted = state?.split(',') ?? []
  for (const one of wanted)
    if (!states.includes(one)) throw new CommandError(`There is no state '${one}'. ${meant(one, states)}`)
  return wanted
}

function toJson({ created, due, started, finished, ...job }: ListedJob): object {
  const text = (instant: number | null) => (instant === null ? null : new Date(instant).toISOString())
  const times = { created: text(created), due: text(due), started: text(started), finished: text(finished) }
  return { ...job, ...times, now: undefined }
}

/** A table of the queues, with an empty line after it; nothing if there are none. */
function summaryOf({ queues, now }: JobSummary): string {
  if (queues.length === 0) return ''
  const rows = queues.map(({ queue, workers, oldest_due, ready, running, delayed, limited, dead, done }) => [
    escapeForLog(queue),
    workers === null ? '?' : String(workers),
    oldest_due === null ? '' : `${spanOf(now.getTime() - oldest_due.getTime())} ago`,
    ...[ready, running, delayed, limited, dead, done].map(String),
  ])
  const head = ['QUEUE', 'WORKERS', 'OLDEST DUE', 'READY', 'RUNNING', 'DELAYED', 'LIMITED', 'DEAD', 'DONE IN A MINUTE']
  return `${tableOf([head, ...rows])}\n`
}

function textOf(found: readonly ListedJob[]): string {
  if (found.length === 0) return 'No jobs.\n'
  const rows = found.map(
    ({ id, name, queue, state, attempt, created, due, started, finished, limit_key, error, now }) => [
      id,
      name,
      queue,
      state,
      String(attempt),
      spanOf(now - created),
      finished !== null ? '' : due > now ? `in ${spanOf(due - now)}` : `${spanOf(now - due)} ago`,
      state === 'running' && started !== null ? spanOf(now - started) : '',
      finished === null ? (limit_key?.slice(0, LIMIT_LENGTH) ?? '') : '',
      error ?? '',
    ],
  )
  const head = ['ID', 'NAME', 'QUEUE', 'STATE', 'ATTEMPT', 'AGE', 'DUE', 'RUNS', 'LIMIT', 'ERROR']
  return tableOf([head, ...rows.map((row) => row.map((cell) => escapeForLog(cell)))])
}

const UNITS = [
  ['d', 24 * 60 * 60_000],
  ['h', 60 * 60_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** `3m`: in whole units, the largest that is not 0. */
function spanOf(milliseconds: number): string {
  const [unit, length] = UNITS.find(([, size]) => milliseconds >= size) ?? ['s', 1_000]
  return `${Math.max(0, Math.floor(milliseconds / length))}${unit}`
}

function chosen(app: Jobs, action: string, ids: readonly string[], options: Options): ChosenJobs {
  const { name } = options
  if (ids.length > 0 === (name !== undefined) || (ids.length > 0 && options['state'] !== undefined))
    throw new CommandError(
      `Name the jobs by their ids, or all of a name: sequitur jobs ${action} 42, or --name mail.welcome`,
    )
  const wrong = ids.find((id) => !/^\d{1,18}$/.test(id))
  if (wrong !== undefined)
    throw new CommandError(`'${wrong}' is not the id of a job. Write a number: sequitur jobs ${action} 42`)
  return name === undefined ? { ids: ids.map((id) => String(BigInt(id))) } : { name, states: statesOf(app, options) }
}

function report(what: string, { changed, skipped }: ChangedJobs, nothing: string): number {
  for (const text of skipped) process.stderr.write(`${escapeForLog(text)}.\n`)
  const count = changed.length === 1 ? '1 job' : `${changed.length} jobs`
  process.stdout.write(changed.length === 0 ? `${nothing}.\n` : `${what} ${count}.\n`)
  return changed.length === 0 ? 1 : 0
}
