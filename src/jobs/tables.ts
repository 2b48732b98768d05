import { DataTypes, type ModelAttributes, Op } from 'sequelize'
import { Column } from 'sequelize-typescript'
import {
  type Index,
  instant,
  mapOwnTables,
  noIndexes,
  number,
  optionalInstant,
  optionalText,
  OwnTable,
  type OwnTableFacts,
  text,
} from '../db/own-tables/own-table.js'

/** The life of a job: `delayed` until it is due, `limited` while as many of its limit run as may; `done` and `dead` are the ends. */
export type JobState = 'delayed' | 'ready' | 'limited' | 'running' | 'done' | 'dead'

/** In the order of a job's life. */
export const STATES: readonly JobState[] = ['delayed', 'ready', 'limited', 'running', 'done', 'dead']
/** Those of jobs that do not run yet. */
export const WAITING = ['delayed', 'ready', 'limited'] as const satisfies readonly JobState[]
export type WaitingState = (typeof WAITING)[number]

/** The largest input, in bytes of JSON: what the smallest text type of the databases holds. Larger values belong into a table of their own. */
export const MAX_INPUT = 60_000

/** The longest list of the queues of a worker, in characters. */
export const MAX_QUEUES = 1_000

// New objects for each use: Sequelize adds to those that it is given.
const JOB = (dialect?: string) =>
  ({
    id: { type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true },
    name: text(100, dialect),
    queue: text(50, dialect),
    state: text(8, dialect),
    priority: number(),
    due: instant(),
    attempt: number(),
    run: number(),
    worker: optionalText(36, dialect),
    unique_key: optionalText(64, dialect),
    kept_key: optionalText(64, dialect),
    limit_key: optionalText(64, dialect),
    // Not `tenant`, which is the column of tenancy() in many programs: it would limit this table to one of them.
    job_tenant: optionalText(100, dialect),
    input: { type: DataTypes.TEXT, allowNull: false },
    trace: optionalText(55, dialect),
    error: optionalText(200, dialect),
    created: instant(),
    started: optionalInstant(),
    finished: optionalInstant(),
  }) satisfies ModelAttributes
const WORKER = (dialect?: string) => ({
  id: { ...text(36, dialect), primaryKey: true },
  host: text(100, dialect),
  queues: optionalText(MAX_QUEUES, dialect),
  valid_until: instant(),
})
const LIMIT = () => ({ bucket: { type: DataTypes.INTEGER, primaryKey: true } })
const CRON = (dialect?: string) => ({ name: { ...text(100, dialect), primaryKey: true }, last: instant() })
const STEP = (dialect?: string) => ({
  job_id: { type: DataTypes.BIGINT, primaryKey: true },
  name: { ...text(100, dialect), primaryKey: true },
  result: { type: DataTypes.TEXT, allowNull: true },
})

/**
 * The indexes of the table of jobs. A claim reads the first few entries of one, however many rows are finished: on MySQL and MariaDB, which have no partial
 * indexes, the state is its first column instead.
 */
function jobIndexes(dialect: string): Index[] {
  const isPartial = dialect === 'postgres' || dialect === 'sqlite'
  const index = (name: string, states: readonly JobState[], fields: readonly string[], where = {}) => ({
    name: `job_${name}`,
    fields: isPartial ? [...fields] : ['state', ...fields],
    ...(isPartial ? { where: { state: states.length === 1 ? states[0] : [...states], ...where } } : {}),
  })
  // Most jobs have no key and no limit: what an index leaves out costs nothing when their rows change.
  const withKey = isPartial ? { where: { unique_key: { [Op.ne]: null } } } : {}
  return [
    { name: 'job_unique_key', unique: true, fields: ['name', 'unique_key'], ...withKey },
    index('ready', ['ready'], ['queue', 'priority', 'due', 'id']),
    index('delayed', ['delayed'], ['due']),
    index('running', ['running'], ['worker']),
    index('limited', ['limited'], ['limit_key', 'priority', 'due', 'id'], { limit_key: { [Op.ne]: null } }),
    // Dead jobs are counted and listed often, and are few next to those that are done.
    ...(isPartial
      ? [index('done', ['done'], ['finished']), index('dead', ['dead'], ['finished'])]
      : [index('finished', ['done', 'dead'], ['finished'])]),
  ]
}

/**
 * The table of jobs: a row for each. Add it to the models of the database in which the handlers write: `createApp({ models: [Hero, JobRecord] })`. Its tables
 * are created by a migration with `createJobTables()`. Programs read it, and leave the writing to this package.
 */
export class JobRecord extends OwnTable<JobRecord> {
  @Column(JOB().id) declare id: string
  /** `mail.welcome` */
  @Column(JOB().name) declare name: string
  @Column(JOB().queue) declare queue: string
  @Column(JOB().state) declare state: JobState
  /** Jobs with a lower number run first. */
  @Column(JOB().priority) declare priority: number
  /** When it may run, in milliseconds since 1970, like the other times. */
  @Column(JOB().due) declare due: string
  /** How many attempts are used up. */
  @Column(JOB().attempt) declare attempt: number
  /** How often it was given to a worker: only the last one may complete it. */
  @Column(JOB().run) declare run: number
  /** The worker that runs it, while it is running. */
  @Column(JOB().worker) declare worker: string | null
  /** A digest of its key and its tenant, until it is finished. */
  @Column(JOB().unique_key) declare unique_key: string | null
  /** That of a dead job, which has it again when it is retried. */
  @Column(JOB().kept_key) declare kept_key: string | null
  @Column(JOB().limit_key) declare limit_key: string | null
  /** The tenant of the session that added it. */
  @Column(JOB().job_tenant) declare job_tenant: string | null
  /** As JSON. */
  @Column(JOB().input) declare input: string
  /** The `traceparent` of the request that added it. */
  @Column(JOB().trace) declare trace: string | null
  /** The name and the code of the last error, and the id of its entry in the log; without its message, which may have values of rows. */
  @Column(JOB().error) declare error: string | null
  @Column(JOB().created) declare created: string
  /** When a worker took it the last time. */
  @Column(JOB().started) declare started: string | null
  @Column(JOB().finished) declare finished: string | null
}

/** The processes that run jobs: what one runs is claimed by another when its row is no longer valid. */
export class JobWorker extends OwnTable<JobWorker> {
  @Column(WORKER().id) declare id: string
  @Column(WORKER().host) declare host: string
  /** How many jobs of each queue it runs at once: `mail=5,default=10`. Null if that is too long. */
  @Column(WORKER().queues) declare queues: string | null
  @Column(WORKER().valid_until) declare valid_until: string
}

/** Rows to lock: who counts the running jobs of a limit holds the row of its bucket. They are never deleted. */
export class JobLimit extends OwnTable<JobLimit> {
  @Column(LIMIT().bucket) declare bucket: number
}

/** The last instant of each `@Cron()` for which a job was added. */
export class JobCron extends OwnTable<JobCron> {
  @Column(CRON().name) declare name: string
  @Column(CRON().last) declare last: string
}

/** The results of the steps of a job, as JSON. */
export class JobStep extends OwnTable<JobStep> {
  @Column(STEP().job_id) declare job_id: string
  @Column(STEP().name) declare name: string
  @Column(STEP().result) declare result: string | null
}

export const TABLES: readonly OwnTableFacts[] = [
  { model: JobRecord, name: 'job', columns: JOB, indexes: jobIndexes },
  { model: JobWorker, name: 'job_worker', columns: WORKER, indexes: noIndexes },
  { model: JobLimit, name: 'job_limit', columns: LIMIT, indexes: noIndexes },
  { model: JobCron, name: 'job_cron', columns: CRON, indexes: noIndexes },
  { model: JobStep, name: 'job_step', columns: STEP, indexes: noIndexes },
]

mapOwnTables(
  TABLES,
  "Write a migration: import { createJobTables } from 'sequitur/jobs', and await createJobTables(queryInterface).",
)
