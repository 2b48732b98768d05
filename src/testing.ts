import { checkOptions, fitting, type OptionChecks } from './core/option-checks.js'
import type { Constructor } from './di/token.js'
import type { JobsRun, WaitingJob } from './http/background.js'
import { App, type AppOptions } from './http/app.js'
import { describeExcess, QueryBudgetError, type ReportExcess } from './http/observation/query-budget.js'
import { messageOf } from './core/to-error.js'
import { endsWithin } from './core/promises.js'
import type { LifespanOptions } from './db/config/lifespan-options.js'
import { Database } from './db/database.js'
import { newLifespan } from './db/lifespan.js'
import type { Logger } from './http/server/logger.js'
import type { InputOf, JobClass, MethodOf } from './jobs/jobs.js'
import { OuterTransaction } from './db/rollback/outer-transaction.js'

export type { FailedJob, JobsRun, JobThatRan, WaitingJob } from './http/background.js'
export { QueryBudgetError } from './http/observation/query-budget.js'
export { testDatabase, type TestDatabase, type TestDatabaseOptions } from './db/test-database.js'

/** A failing test needs the reason of a 500. */
const ERRORS: Logger = { info() {}, warn() {}, error: (...values) => console.error(...values) }

/** An app that listens on a free port of the loopback interface. */
export interface TestApp extends AsyncDisposable {
  readonly app: App
  /** `http://127.0.0.1:54321` */
  readonly url: string
  /** `fetch` with a path of the app instead of a URL. A `json` body is sent as JSON. */
  fetch(path: string, init?: RequestInit & { readonly json?: unknown }): Promise<Response>
  /** The jobs of the app. Its methods throw for an app without `createApp({ jobs })`. */
  readonly jobs: TestedJobs
  close(): Promise<void>
}

/** The jobs of an app in a test, in which no worker runs unless `testApp({ work })` is given. */
export interface TestedJobs {
  /**
   * Runs what is due in the process of the test, one job after the other, until nothing is, also what these jobs add. A job that fails is not an error of
   * the test: it is in the result, with what it has thrown.
   *
   * @param options `at`: jobs with a delay, and those that failed, are due until then. Default: now.
   * @throws QueryBudgetError for a job that exceeds its budget. Error for a job whose class is missing in `createApp({ jobs })`, and if there is no end.
   * @example
   * await api.fetch('/heros', { method: 'POST', json: { name: 'Robin' } })
   * const { done } = await api.jobs.run()
   * assert.deepEqual(done.map(({ name }) => name), ['mail.welcome'])
   */
  run(options?: { readonly at?: Date }): Promise<JobsRun>
  /**
   * The jobs of this method that were added and have not ended, in the order in which they were added.
   *
   * @example
   * const [job] = await api.jobs.added(MailJobs, 'welcome')
   * assert.equal(job?.input.hero_id, 1)
   */
  added<T, K extends MethodOf<T>>(type: JobClass<T>, job: K): Promise<readonly WaitingJob<InputOf<T[K]>>[]>
  /** Runs a job with `@Cron()` as at this instant, whatever its schedule. @throws TypeError for another method. */
  cron<T>(type: JobClass<T>, job: MethodOf<T>, instant: Date): Promise<JobsRun>
}

/**
 * Starts an app for a test: on a free port, logging only errors. Close it at the end of the test.
 *
 * A request that sends more statements than `queryBudget` or `@Budget()` allows fails the test: `fetch` rejects with a QueryBudgetError that names the
 * statement, how often it was sent, and from where; after a request that was not sent by `fetch`, `close` does.
 *
 * @example
 * const api = await testApp({ controllers: [HeroController], models: [Hero], lifespan: memoryDatabase() })
 * t.after(api.close)
 * const response = await api.fetch('/heros', { method: 'POST', json: { name: 'Robin' } })
 */
export async function testApp(options: AppOptions): Promise<TestApp> {
  const exceeded = new ExceededBudgets()
  const app = new App({ logger: ERRORS, ...options }, exceeded.add)
  const { url } = await app.listen(0)
  const close = async () => {
    await app.close()
    exceeded.throwFirst()
  }
  const fetching = new Set<Promise<unknown>>()
  started.set(app, { databases: databasesOf(options), fetching })
  return {
    app,
    url,
    close,
    jobs: jobsOfTest(app, exceeded),
    [Symbol.asyncDispose]: close,
    fetch: (path, { json, ...init } = {}) => {
      const response = fetch(new URL(path, url), json === undefined ? init : withJson(init, json))
      const ended = response.then(
        () => void fetching.delete(ended),
        () => void fetching.delete(ended),
      )
      fetching.add(ended)
      return response.then((answer) => {
        exceeded.throwFirst()
        return answer
      })
    },
  }
}

const RUN_OPTIONS: OptionChecks<{ readonly at?: Date }> = { at: fitting(isDate, 'a valid Date') }

function isDate(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime())
}

function jobsOfTest(app: App, exceeded: ExceededBudgets): TestedJobs {
  const tests = () => {
    if (app.background) return app.background.tests
    throw new Error('The app has no jobs. Write testApp({ jobs: [MailJobs] }), with JobRecord among its models.')
  }
  return {
    async run(options = {}) {
      checkOptions('api.jobs.run()', options, RUN_OPTIONS)
      const result = await tests().run(options.at)
      exceeded.throwFirst()
      return result
    },
    // The inputs are of the class that the method declares.
    added: async (type, job) => (await tests().added(type as Constructor, job)) as never,
    async cron(type, job, instant) {
      if (!isDate(instant))
        throw new TypeError(`api.jobs.cron(${type.name}, '${job}') needs the instant, a valid Date.`)
      const result = await tests().runCron(type as Constructor, job, instant)
      exceeded.throwFirst()
      return result
    },
  }
}

/** The requests that exceeded their budget, until a test fails because of them. */
class ExceededBudgets {
  readonly #errors: QueryBudgetError[] = []

  readonly add: ReportExcess = (excess, record) => {
    this.#errors.push(new QueryBudgetError(describeExcess(excess, record)))
  }

  throwFirst(): void {
    const [first] = this.#errors.splice(0)
    if (first) throw first
  }
}

interface Started {
  readonly databases: readonly Database[]
  /** The requests of `api.fetch` that are not answered. They never reject. */
  readonly fetching: ReadonlySet<Promise<unknown>>
}

/** The facts about the apps of {@link testApp}. By the app, because programs copy a TestApp into objects of their own. */
const started = new WeakMap<App, Started>()

function databasesOf({ lifespan = [] }: AppOptions): readonly Database[] {
  const lifespans: readonly unknown[] = [lifespan].flat()
  return lifespans.filter((one) => one instanceof Database)
}

function withJson(init: RequestInit, json: unknown): RequestInit {
  const headers = new Headers(init.headers)
  if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  return { ...init, headers, body: JSON.stringify(json) }
}

/** An SQLite database in memory. Its tables are created from the models at startup. */
export function memoryDatabase(options: LifespanOptions = {}): Database {
  return newLifespan('sqlite+sqlite3:///:memory:', { sync: true, ...options })
}

/** Undoes everything that happens in the databases of an app until its end. Made by {@link beginRollback}. */
export interface Rollback extends AsyncDisposable {
  /**
   * Waits for requests that still run, and rolls everything back.
   *
   * @throws Error if the test is invalid: requests that do not end, a transaction that the database ended early.
   */
  end(): Promise<void>
}

/** Milliseconds that the end of a rollback waits for requests. */
const MAX_WAIT_FOR_REQUESTS = 5_000

/**
 * Like {@link withRollback}, for hooks and for `await using`: `end()` undoes everything that happens in the databases of the app after this call.
 *
 * @throws Error if the app has no database, or if the last rollback of one has not ended.
 * @example
 * beforeEach(async () => { rollback = await beginRollback(api) })
 * afterEach(() => rollback.end())
 */
export async function beginRollback(api: TestApp): Promise<Rollback> {
  const { databases, fetching } = startedOf(api)
  const outers: OuterTransaction[] = []
  const endAll = async () => {
    const problems = await Promise.all(outers.map((outer) => outer.end()))
    for (const problem of problems) if (problem) throw problem
  }
  try {
    for (const database of databases) outers.push(await OuterTransaction.begin(database))
  } catch (error) {
    await endAll().catch(() => {}) // no request has used them
    throw error
  }
  const end = async () => {
    await endsWithin(Promise.all(fetching), MAX_WAIT_FOR_REQUESTS)
    await endAll()
  }
  return { end, [Symbol.asyncDispose]: end }
}

function startedOf({ app }: TestApp): Started {
  const found = started.get(app)
  if (!found) throw new Error('withRollback() takes what testApp() returns: const api = await testApp({ ... }).')
  if (found.databases.length === 0)
    throw new Error(
      'withRollback(): the app has no database. Write testApp({ lifespan }), or leave withRollback() out.',
    )
  return found
}

/**
 * A test after which the databases of the app are as before: all that its requests, over real HTTP, and its `withSession()` write is in one transaction,
 * which is rolled back when the test ends, passed or failed. Each request is a savepoint in it, with everything as in production: checks at COMMIT,
 * `afterCommit`, retries, `session.rollback()`. Requests that are sent at the same time run one after the other.
 *
 * @returns the function for `test(name, fn)` of node:test, Vitest and Jest. It rejects with the error of the test.
 * @example
 * test('a hero is created', withRollback(api, async () => {
 *   const response = await api.fetch('/heros', { method: 'POST', json: { name: 'Robin' } })
 *   assert.equal(response.status, 201)
 * }))
 */
export function withRollback<Args extends unknown[]>(
  api: TestApp,
  test: (...args: Args) => unknown,
): (...args: Args) => Promise<void> {
  // Without parameters: Jest would wait for a callback, and Vitest reads their names.
  return async function () {
    const rollback = await beginRollback(api)
    try {
      // oxlint-disable-next-line prefer-rest-params
      await test(...(arguments as unknown as Args))
    } catch (error) {
      await rollback.end().catch((problem: unknown) => {
        throw new AggregateError([error, problem], `${messageOf(error)}\n${messageOf(problem)}`, { cause: error })
      })
      throw error
    }
    await rollback.end()
  }
}
