import { BootError } from '../../core/boot-error.js'
import { budgetExceeded } from '../../core/events/channels.js'
import { JobRun } from '../../core/events/job-run.js'
import { type Excess, type QueryLimits, UNLIMITED } from '../../core/events/query-counter.js'
import { RequestRecord } from '../../core/events/request-record.js'
import type { WorkRecord } from '../../core/events/work-record.js'
import { escapeForLog } from '../../core/log-text.js'
import { checkOptions, integer, type OptionChecks } from '../../core/option-checks.js'
import { shown } from '../../core/options.js'

/** How many statements a request, or a job, may send. */
export interface QueryBudget {
  /** The most statements of one request, or one run of a job, without BEGIN, COMMIT and savepoints. Default: no limit. */
  readonly statements?: number
  /** One read that is sent this many times, with any values, is reported (N+1). Default 10. */
  readonly repeats?: number
}

/** A number is the most statements; `false` sets no limits. */
export type QueryBudgetOption = number | QueryBudget | false

const statements = integer('statements, as in 20', 0, Number.MAX_SAFE_INTEGER)

const OPTIONS: OptionChecks<QueryBudget> = {
  statements,
  repeats: integer('repetitions, as in 10', 2, Number.MAX_SAFE_INTEGER),
}

/** @throws BootError for a value that is not a budget. */
export function checkBudget(budget: unknown, where: string): void {
  if (budget === undefined || budget === false) return
  if (typeof budget === 'number') return statements(budget, where)
  if (typeof budget !== 'object' || budget === null)
    throw new BootError(
      `${where} is ${shown(budget)}. Write a number of statements, { statements: 20, repeats: 10 } or false.`,
    )
  checkOptions(where, budget, OPTIONS)
}

/** The default limits of an app. */
const DEFAULTS: QueryLimits = { statements: Infinity, repeats: 10 }

/** The limits of a budget. @param others those that it leaves out. */
export function limitsOf(budget: QueryBudgetOption = {}, others = DEFAULTS): QueryLimits {
  if (budget === false) return UNLIMITED
  return { ...others, ...(typeof budget === 'number' ? { statements: budget } : budget) }
}

/** A request, or a job, of a test has sent more statements than its budget allows. */
export class QueryBudgetError extends Error {
  override name = 'QueryBudgetError'
}

/** The limits of an app, and how an excess is reported; undefined if only by an event. */
export interface BudgetOfApp {
  readonly limits: QueryLimits
  readonly report: ReportExcess | undefined
}

/** Called with each excess, before the response is sent. */
export type ReportExcess = (excess: Excess, record: WorkRecord) => void

/** For how many routes, or jobs, and statements it is known that the warning was written. */
const MAX_WARNED = 1_000

/** Warns once for each route, or job, and statement. */
export function warnOnce(warn: (text: string) => void): ReportExcess {
  const warned = new Set<string>()
  return (excess, record) => {
    const key = `${record.title} ${excess.shape}`
    if (warned.has(key) || warned.size >= MAX_WARNED) return
    warned.add(key)
    warn(describeExcess(excess, record))
  }
}

/** Publishes how the statements of a request, or job, have exceeded their budget, and reports it. */
export function reportExcesses(record: WorkRecord, report: ReportExcess | undefined): void {
  if (!report && !budgetExceeded.hasSubscribers) return
  const request = record instanceof RequestRecord ? record : undefined
  const job = record instanceof JobRun ? record : undefined
  for (const excess of record.queries.excesses) {
    if (budgetExceeded.hasSubscribers) budgetExceeded.publish({ ...excess, request, route: request?.route, job })
    report?.(excess, record)
  }
}

/** Characters of a statement in a message. */
const MAX_SHAPE = 1_000

export function describeExcess({ kind, count, limit, shape = '', location }: Excess, record: WorkRecord): string {
  const { title } = record
  const place = location === undefined ? '' : `, from ${location}`
  return kind === 'statements'
    ? `${title} sent ${count} statements; its budget is ${limit}. Number ${limit + 1} was sent${place || ' by its handler'}.`
    : `${title} sent the same statement ${count} times (N+1)${place}. Read the rows by one statement, with an include or a condition on all keys: ${escapeForLog(shape, MAX_SHAPE)}`
}
