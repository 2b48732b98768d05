import { Abort } from '../../core/abort.js'
import { bracket, type BracketWork, type Leftover, type Unit } from '../../core/bracket.js'
import type { JobRun } from '../../core/events/job-run.js'
import { traceOf } from '../../core/events/trace.js'
import { recordWithoutSession } from '../../core/events/work-record.js'
import { endsWithin } from '../../core/promises.js'
import { type Container, Scope, type ScopeCaller } from '../../di/container.js'
import type { Token } from '../../di/token.js'
import { codeOf } from '../../db/dialect.js'
import type { LastSession, LastWork } from '../../db/session/last-work.js'
import { currentSession } from '../../db/session/session.js'
import type { Sql } from '../../db/statements/statement.js'
import { callingTrace } from '../../http/observation/calling-trace.js'
import { RequestLogger } from '../../http/observation/request-logger.js'
import type { Log } from '../../http/server/logger.js'
import { Attempt } from '../attempt.js'
import { JobTimeout, LostLeaseError } from '../errors.js'
import type { JobDatabase } from '../job-database.js'
import type { ClaimedRow } from '../statements/claim.js'
import type { Held } from '../statements/ends.js'
import { JobNotes } from './job-notes.js'
import type { PlannedJob } from './planned-jobs.js'
import { runStep } from './run-step.js'

/** How PostgreSQL refuses to complete a job that the worker does not have any more. */
const DIVISION_BY_ZERO = '22012'
/** Milliseconds to wait for what continues after the end of a job. */
const MOST_LATE = 5_000

/** A job that this worker has claimed. */
export interface ClaimedJob extends Held {
  readonly row: ClaimedRow
}

/** The parts of a worker that each job needs. */
export interface JobContext {
  readonly database: JobDatabase
  readonly container: Container
  readonly log: Log
}

/**
 * The call of a job's method, with all of its runs after conflicts. It is completed by the last statement of its own transaction: its effects and its end
 * are one commit.
 */
export class JobCall implements BracketWork<unknown, void>, ScopeCaller {
  readonly abort = new Abort()
  readonly #job: PlannedJob
  readonly #claimed: ClaimedJob
  readonly #context: JobContext
  readonly #record: JobRun | undefined
  #scope: Scope | undefined
  /** Continues after the abort. */
  #leftover: Promise<void> | undefined
  #isCompleted = false
  #isRepeated = false

  /** @param record of this run; undefined if no one listens. */
  constructor(job: PlannedJob, claimed: ClaimedJob, context: JobContext, record?: JobRun) {
    this.#job = job
    this.#claimed = claimed
    this.#context = context
    this.#record = record
  }

  /** `mail.welcome 42` */
  get title(): string {
    return `${this.#job.name} ${this.#claimed.id}`
  }

  /**
   * Runs the job, and completes it.
   *
   * @throws what the method throws; LostLeaseError if another worker has the job; the errors of the database, also of COMMIT.
   */
  async execute(): Promise<void> {
    const { timeout } = this.#job
    const { database } = this.#context
    const timer = setTimeout(() => this.abort.abort(new JobTimeout(this.title, timeout)), timeout)
    try {
      await database.owner.runAs(this.#claimed.row.tenant ?? undefined, async () => this.#run())
      if (!this.#isCompleted) await database.transaction((session) => this.#complete(session))
    } finally {
      clearTimeout(timer)
      if (this.#leftover)
        await this.#bounded(this.#leftover, 'its rollback, or a callback of session.afterCommit() or afterEnd()')
      const disposing = this.#scope?.dispose()
      if (disposing) await this.#bounded(disposing, `the disposer of ${this.#scope?.disposing ?? 'a service'}`)
    }
  }

  /** Waits for what must not keep the slot of a job for ever. */
  async #bounded(work: Promise<void>, what: string): Promise<void> {
    if (await endsWithin(work, MOST_LATE)) return
    this.report(new Error(`${what} has not ended in time; it is not waited for. Set a timeout for what it waits for.`))
  }

  onLeftover(_: Leftover, done: Promise<void>): void {
    this.#leftover = done
  }

  #run(): void | Promise<void> {
    const record = this.#record
    return record && this.#job.openers.length === 0
      ? recordWithoutSession.run(record, () => bracket(this))
      : bracket(this)
  }

  open(attempt: number): readonly Unit[] {
    this.#isCompleted = false
    this.#isRepeated = attempt > 0
    return this.#job.openers.flatMap(({ open }) => open(attempt, this.#record) ?? [])
  }

  async run(): Promise<unknown> {
    const previous = this.#scope
    this.#scope = undefined
    await previous?.dispose() // it may still hold something, such as a lock
    if (this.#isRepeated) await this.#requireHeld()
    const { plan, input } = this.#job
    this.#scope = new Scope(this.#context.container, this)
    const { row } = this.#claimed
    return this.#scope.run(plan, {
      read: () => plan.inputs.map((kind) => (kind === 'attempt' ? this.#attempt() : input.read(row.input))),
    })
  }

  // The conflict may have been that another worker has the job: at SERIALIZABLE the fence itself fails as one.
  async #requireHeld(): Promise<void> {
    const { sequelize, statements } = this.#context.database
    const session = currentSession(sequelize)
    if (!session) return
    const rows = await this.#uncounted(() => session.executeOwn(statements.isHeld(this.#claimed)))
    if (rows.length === 0) throw new LostLeaseError(this.title)
  }

  #attempt(): Attempt {
    const { id, row } = this.#claimed
    const { name, attempts: most, cron } = this.#job
    const instant = cron && instantOf(row.input)
    const facts = { id, name, created: Number(row.created), number: row.attempt, most, instant }
    const { database } = this.#context
    const context = { database, claimed: this.#claimed, title: this.title, abort: this.abort, record: this.#record }
    return new Attempt(facts, (step, work) => runStep(context, step, work))
  }

  /** The values of the tokens that the app declares. */
  given(token: Token): unknown {
    if (token === callingTrace) return this.#claimed.row.trace ?? undefined
    return token === RequestLogger ? this.#notes() : this.abort.signal
  }

  #notes(): JobNotes {
    const { row } = this.#claimed
    const trace = this.#record ? this.#record.trace : traceOf({ traceparent: row.trace ?? undefined })
    return new JobNotes(this.#context.log, {
      id: this.#claimed.id,
      name: this.#job.name,
      attempt: row.attempt,
      trace,
    })
  }

  call(controller: unknown, args: unknown[]): unknown {
    if (this.abort.isAborted) throw this.abort.reason
    const { member, type } = this.#job
    // The planner has checked that this class has the method; an instance may still hide it.
    const method = (controller as Readonly<Record<string, (...args: unknown[]) => unknown>>)[member]
    if (!method) throw new TypeError(`${type.name}.${member} is not a method.`)
    return method.apply(controller, args)
  }

  finish(): void {}

  /** The last statement of the job's own transaction. Without one, or if the program rolls it back, the job is completed in another. */
  readonly beforeCommit = async (): Promise<void> => {
    const session = currentSession(this.#context.database.sequelize)
    if (!session || session.isRollingBack || !this.#job.completesItself) return
    session.commitLast() // of several databases: if another one fails, the job runs again
    // Nothing of another database must be committed by a worker that does not have the job any more.
    if (this.#job.openers.length > 1) await this.#completeIn(session)
    else session.addLast(completion, (last) => this.#completeIn(last))
    this.#isCompleted = true
  }

  /** @throws LostLeaseError if another worker has the job: the statement itself fails then, where statements are sent together with COMMIT. */
  #completeIn(session: LastSession): Promise<void> {
    const completing = this.#context.database.statements.completeOrFail(this.#claimed)
    return completing ? this.#completeOrFail(session, completing) : this.#uncounted(() => this.#complete(session))
  }

  /** Runs a statement of the worker in the job's own transaction: like COMMIT, it is none of the job. */
  async #uncounted<T>(work: () => Promise<T>): Promise<T> {
    const record = this.#record
    if (!record) return work()
    record.isCounting = false
    try {
      return await work()
    } finally {
      record.isCounting = true
    }
  }

  async #completeOrFail(session: LastSession, statement: Sql): Promise<void> {
    try {
      await this.#uncounted(() => session.executeOwn(statement))
    } catch (error) {
      throw codeOf(error) === DIVISION_BY_ZERO ? new LostLeaseError(this.title) : error
    }
  }

  async #complete(session: LastSession): Promise<void> {
    const { database } = this.#context
    const changed = await database.change(session, database.statements.complete(this.#claimed))
    if (changed === 0) throw new LostLeaseError(this.title)
  }

  report(error: unknown): void {
    this.#context.log.error(`Job ${this.title}:`, error)
  }
}

/** Completes a job in the transaction that it has run in. */
const completion: LastWork<(session: LastSession) => Promise<void>> = {
  locks: false,
  execute: (completions, session, execute) => execute(completions.map((complete) => () => complete(session))),
}

function instantOf(input: string): Date | undefined {
  const { instant }: { readonly instant?: unknown } = JSON.parse(input)
  return typeof instant === 'number' ? new Date(instant) : undefined
}
