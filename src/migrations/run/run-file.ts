import { BaseError, ConnectionError, Sequelize } from 'sequelize'
import { isMysql } from '../../db/is-mysql.js'
import { codeOf, isLostConnection } from '../../db/dialect.js'
import { isCommitting } from '../../db/dialects/mysql/ending-statements.js'
import type { Database } from '../../db/database.js'
import { withoutForeignKeys } from '../../db/dialects/sqlite/pools/sqlite-pools.js'
import type { Session } from '../../db/session/session.js'
import { toBound } from '../../db/statements/statement.js'
import { batchTableText, sqlText, stepDigest, stepText, migrationDigest } from '../steps/step-text.js'
import type { AloneStep, BatchesStep, Migration, RunStep, SqlStep, Step } from '../steps/step.js'
import { type BatchKey, runBatch, whileReplicasLag } from './batches.js'
import { MigrationError } from './errors.js'
import { fileDigest } from './file-digest.js'
import { type Journal, type StepEntry } from './journal.js'
import { limitLockWaits, LOCK_TIMEOUT, whileLocked, whileRefused } from './lock-retries.js'
import type { MigrationFile, PlainMigration } from './migration-files.js'
import { assertReferences, brokenReferences } from './references.js'
import { stepFailed } from './step-failed.js'
import { dropInvalidIndex, invalidIndexOf, isConcurrent, tablesOf } from './was-executed.js'

/** What the migrations of one run have in common. */
export interface Run {
  /** Without models. */
  readonly database: Database
  readonly journal: Journal
  readonly log: (line: string) => void
}

/** A step with its number, from 1. */
interface Numbered<S extends Step> {
  readonly number: number
  readonly step: S
}

/** Steps that are one transaction, or one that is not in a transaction with others. */
type Part = { readonly kind: 'together'; readonly list: readonly Numbered<SqlStep | RunStep>[] } | Apart
type Apart = ({ readonly kind: 'alone' } & Numbered<AloneStep>) | ({ readonly kind: 'batches' } & Numbered<BatchesStep>)

/** Seconds that statements of QueryInterface wait for a lock outside of transactions, and on MySQL, where they cannot run again. */
const PLAIN_LOCK_TIMEOUT = 60

const NEEDS_NO_TRANSACTION: ReadonlySet<string> = new Set([
  '25001', // active_sql_transaction: CREATE INDEX CONCURRENTLY
  '55P04', // unsafe_new_enum_value_usage: after ALTER TYPE ADD VALUE
])

/** Runs a migration of QueryInterface, in one transaction with the note that it has run, unless PostgreSQL refuses one of its statements in a transaction. @throws MigrationError if it fails. */
export async function runPlain(run: Run, file: MigrationFile, migration: PlainMigration): Promise<void> {
  const { sequelize } = run.database
  const context = sequelize.getQueryInterface()
  const up = () => migration.up(Object.assign(Object.create(context), { ...file, context }), Sequelize)
  const digest = fileDigest(file)
  const finish = (session: Session) => run.journal.finish(session, file.name, digest)
  const attempt = () =>
    run.database.session(async (session) => {
      const before = await brokenReferences(session)
      await up()
      await assertReferences(session, before)
      await finish(session)
    })
  const isOnMysql = isMysql(sequelize.getDialect())
  let commits = isOnMysql
  const apart = async (error: unknown) => {
    if (sequelize.getDialect() !== 'postgres' || !NEEDS_NO_TRANSACTION.has(codeOf(error))) throw error
    commits = true
    await limitLockWaits(sequelize, PLAIN_LOCK_TIMEOUT)
    await up()
    await run.database.session(finish)
  }
  try {
    await limitLockWaits(sequelize, isOnMysql ? PLAIN_LOCK_TIMEOUT : LOCK_TIMEOUT)
    // QueryInterface changes a column of SQLite by a new table, and drops the old one.
    await withoutForeignKeys(sequelize, () => (isOnMysql ? attempt() : whileLocked(attempt, run.log).catch(apart)))
  } catch (error) {
    throw stepFailed(file.name, error, await remainingOfPlain(run, file, commits))
  }
}

const UNKNOWN = 'The database does not answer: what of it is done is found by the next run.'

// COMMIT may have been executed, and not answered.
async function remainingOfPlain(
  { database, journal }: Run,
  { name }: MigrationFile,
  commits: boolean,
): Promise<string> {
  const applied = await database.session((session) => journal.applied(session)).catch(() => undefined)
  if (!applied) return UNKNOWN
  if (applied.has(name)) return 'It is applied nevertheless.'
  return commits ? 'What it has changed before remains.' : 'Nothing of it remains.'
}

/** Runs the steps that are not done. @throws MigrationError if one fails, with what remains done. */
export function runSteps(run: Run, file: MigrationFile, migration: Migration): Promise<void> {
  return new StepsRun(run, file, migration).run()
}

class StepsRun {
  readonly #run: Run
  readonly #name: string
  readonly #migration: Migration
  #entries: ReadonlyMap<number, StepEntry> = new Map()
  /** The step that is being executed, for messages. */
  #current: Numbered<Step> | undefined

  constructor(run: Run, { name }: MigrationFile, migration: Migration) {
    this.#run = run
    this.#name = name
    this.#migration = migration
  }

  async run(): Promise<void> {
    const { steps } = this.#migration
    this.#entries = await this.#session((session) => this.#run.journal.steps(session, this.#name))
    for (const [number, { digest, state }] of this.#entries) this.#assertSame(number, digest, state)
    const parts = partsOf(steps, isMysql(this.#sequelize.getDialect()))
    const [only] = parts
    // What has been begun may have had other parts.
    if (only?.kind === 'together' && parts.length === 1 && this.#entries.size === 0)
      return this.#together(only.list, (session) => this.#finish(session))
    for (const part of parts) await this.#part(part)
    await this.#session((session) => this.#finish(session))
  }

  get #sequelize() {
    return this.#run.database.sequelize
  }

  #session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#run.database.session(work)
  }

  #assertSame(number: number, digest: string, state: string): void {
    const step = this.#migration.steps[number - 1]
    if (state === 'begun' || (step && stepDigest(step) === digest)) return
    throw new MigrationError(
      `${this.#name} was begun, and its step ${number}, which is done, has changed since. Write it again as it was; the steps after it may be changed.`,
    )
  }

  #finish(session: Session): Promise<void> {
    return this.#run.journal.finish(session, this.#name, migrationDigest(this.#migration))
  }

  #part(part: Part): Promise<void> {
    switch (part.kind) {
      case 'together':
        return this.#together(
          part.list.filter(({ number }) => !this.#isDone(number)),
          async (session) => {
            for (const { number, step } of part.list) await this.#note(session, number, step, 'done')
          },
        )
      case 'alone':
        return this.#isDone(part.number) ? Promise.resolve() : this.#namingStep(part, () => this.#alone(part))
      case 'batches':
        return this.#isDone(part.number) ? Promise.resolve() : this.#namingStep(part, () => this.#batches(part))
    }
  }

  #isDone(number: number): boolean {
    return this.#entries.get(number)?.state === 'done'
  }

  #note(
    session: Session,
    step: number,
    of: Step,
    state: StepEntry['state'],
    detail: string | null = null,
  ): Promise<void> {
    return this.#run.journal.write(session, this.#name, { step, digest: stepDigest(of), state, detail })
  }

  /** Runs the work of a step. @throws MigrationError that names the step, if it fails. */
  async #namingStep<T>(current: Numbered<Step> | undefined, work: () => Promise<T>): Promise<T> {
    this.#current = current
    try {
      return await work()
    } catch (error) {
      throw await this.#failed(error)
    }
  }

  async #failed(error: unknown): Promise<MigrationError> {
    const at = this.#current
    const { length } = this.#migration.steps
    const place = at ? `${this.#name}, step ${at.number} of ${length}` : this.#name
    return stepFailed(place, error, await this.#remaining(), at && stepText(at.step))
  }

  async #remaining(): Promise<string> {
    const { journal } = this.#run
    const entries = await this.#session((session) => journal.steps(session, this.#name)).catch(() => undefined)
    if (!entries) return UNKNOWN
    const which = [...entries.values()]
      .toSorted((a, b) => a.step - b.step)
      .flatMap((entry) => doneOf(entry, this.#migration.steps[entry.step - 1]))
      .join(', ')
    const done = which === '' ? '' : `What remains done of it: step ${which}. The next run goes on after that.`
    const step = this.#current?.step
    const left = step?.kind === 'alone' ? invalidIndexOf(sqlText(step.statement)) : ''
    return [done, left].filter((text) => text !== '').join(' ') || 'Nothing of it remains.'
  }

  async #together(
    list: readonly Numbered<SqlStep | RunStep>[],
    end: (session: Session) => Promise<void>,
  ): Promise<void> {
    if (list.length === 0 && this.#migration.steps.length > 0) return
    const attempt = () =>
      this.#session(async (session) => {
        const before = await brokenReferences(session)
        for (const one of list) {
          this.#current = one
          await execute(session, one.step)
        }
        this.#current = undefined
        await assertReferences(session, before)
        await end(session)
      })
    await this.#namingStep(undefined, () =>
      withoutForeignKeys(this.#sequelize, () => this.#whileLocked(attempt, LOCK_TIMEOUT)),
    )
  }

  #whileLocked<T>(work: () => Promise<T>, seconds: number): Promise<T> {
    return whileLocked(async () => {
      await limitLockWaits(this.#sequelize, seconds)
      return work()
    }, this.#run.log)
  }

  async #alone({ number, step }: Numbered<AloneStep>): Promise<void> {
    const text = sqlText(step.statement)
    const attempt = () => this.#attempt(number, step, text)
    const unlocked = () => this.#whileLocked(attempt, isConcurrent(text) ? 0 : LOCK_TIMEOUT)
    if (!(await this.#wasExecuted(number, step, text)))
      await (step.again === true ? whileRefused(unlocked, () => this.#repeat(number - 1)) : unlocked())
    await this.#session((session) => this.#note(session, number, step, 'done'))
  }

  /** Executes a step on rows again. */
  async #repeat(number: number): Promise<void> {
    const step = this.#migration.steps[number - 1]
    if (step?.kind === 'sql') await this.#together([{ number, step }], () => Promise.resolve())
    if (step?.kind !== 'batches') return
    await this.#session((session) => this.#note(session, number, step, 'begun'))
    await this.#batches({ number, step })
  }

  async #attempt(number: number, step: AloneStep, text: string): Promise<void> {
    const before = isMysql(this.#sequelize.getDialect()) && !step.done ? await tablesOf(this.#sequelize, text) : null
    const begin = (detail: string | null) =>
      this.#session((session) => this.#note(session, number, step, 'begun', detail))
    await begin(before)
    try {
      await this.#execute(step, text)
    } catch (error) {
      // It was not executed, and whatever changes the tables before the next run is not this statement.
      if (before !== null && isAnswer(error)) await begin(null).catch(() => {})
      throw error
    }
  }

  async #wasExecuted(number: number, step: AloneStep, text: string): Promise<boolean> {
    const { done } = step
    if (done) return (await this.#session((session) => session.execute(done))).length > 0
    const entry = this.#entries.get(number)
    if (!entry?.detail || entry.digest !== stepDigest(step)) return false
    return entry.detail !== (await tablesOf(this.#sequelize, text))
  }

  async #execute({ statement }: AloneStep, text: string): Promise<void> {
    if (this.#sequelize.getDialect() === 'postgres') await dropInvalidIndex(this.#sequelize, text)
    if (statement.values.length === 0) await this.#sequelize.query(text)
    else {
      const { sql, bind } = toBound(statement)
      await this.#sequelize.query(sql, { bind })
    }
  }

  async #batches({ number, step }: Numbered<BatchesStep>): Promise<void> {
    const batch = () =>
      this.#session(async (session) => {
        const entry = (await this.#run.journal.steps(session, this.#name)).get(number)
        const { last, isLast } = await runBatch(session, step, lastKeyOf(entry, step))
        const text = last === undefined ? null : JSON.stringify(last)
        await this.#note(session, number, step, isLast ? 'done' : 'begun', text)
        return isLast
      })
    if (hasChanged(this.#entries.get(number), step))
      this.#run.log(`${this.#name}, step ${number} has changed since it was begun: it begins at the first row.`)
    while (!(await this.#whileLocked(batch, LOCK_TIMEOUT))) await whileReplicasLag(this.#sequelize, this.#run.log)
  }
}

/** `3`, `3 up to hero.id = 20`; nothing for a step of which nothing is done. */
function doneOf(entry: StepEntry, step: Step | undefined): readonly string[] {
  const { step: number, state, detail } = entry
  if (state === 'done') return [String(number)]
  if (detail === null) return []
  if (hasChanged(entry, step)) return [`${number} in part, as it was before`]
  return step?.kind === 'batches' ? [`${number} up to ${batchTableText(step)}.${step.key} = ${detail}`] : []
}

/** Whether a part of the step was done while it was another one. */
function hasChanged(entry: StepEntry | undefined, step: Step | undefined): boolean {
  return typeof entry?.detail === 'string' && !(step && stepDigest(step) === entry.digest)
}

/** The key after which batches continue: the rows of another table, and those of another statement, are still to be reached. */
function lastKeyOf(entry: StepEntry | undefined, step: BatchesStep): BatchKey | undefined {
  return typeof entry?.detail !== 'string' || hasChanged(entry, step) ? undefined : JSON.parse(entry.detail)
}

async function execute(session: Session, step: SqlStep | RunStep): Promise<void> {
  if (step.kind === 'run') await step.work(session)
  else await session.execute({ ...step.statement, varies: true }) // not prepared: it is executed once
}

/** Whether the server has refused the statement: after a lost connection it may have been executed. */
function isAnswer(error: unknown): boolean {
  return error instanceof BaseError && !(error instanceof ConnectionError) && !isLostConnection(error)
}

/** @param commits whether the database commits before each change of a table. */
function partsOf(steps: readonly Step[], commits: boolean): readonly Part[] {
  const parts: Part[] = []
  let isOpen = false
  for (const [index, given] of steps.entries()) {
    const number = index + 1
    const step = commits ? apartOnMysql(given) : given
    const last = parts.at(-1)
    const wasOpen = isOpen
    isOpen = step.kind === 'sql' || step.kind === 'run'
    if (step.kind === 'commit') continue
    if (step.kind === 'alone') parts.push({ kind: 'alone', number, step })
    else if (step.kind === 'batches') parts.push({ kind: 'batches', number, step })
    else if (wasOpen && last?.kind === 'together')
      parts[parts.length - 1] = { kind: 'together', list: [...last.list, { number, step }] }
    else parts.push({ kind: 'together', list: [{ number, step }] })
  }
  return parts
}

function apartOnMysql(step: Step): Step {
  return step.kind === 'sql' && isCommitting(sqlText(step.statement))
    ? { kind: 'alone', statement: step.statement }
    : step
}
