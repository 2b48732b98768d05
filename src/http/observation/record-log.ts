import type { SentStatement, WorkRecord } from '../../core/events/work-record.js'
import { describeStatement, type EntryLog, rounded } from './log-entry.js'
import type { LogOptions } from './log-options.js'
import type { PlanLog, Subject } from './plan-log.js'

/** How many statements of a slow request are named. */
const MAX_SLOWEST = 3
/** Statements that take at least this part of `slow` are explained: a slow request also has fast ones. */
const EXPLAINED_SHARE = 0.1

/** Writes one entry for each request, or each run of a job, at its end. */
export abstract class RecordLog<Recorded extends WorkRecord> {
  readonly #log: EntryLog
  readonly #requests: boolean
  readonly #slow: number
  readonly #plans: PlanLog | undefined
  readonly #slowest = new WeakMap<WorkRecord, SentStatement[]>()

  /** @param plans receives the slowest statements of what was slow; undefined if they are not explained. */
  constructor(log: EntryLog, { requests = false, slow = Infinity }: LogOptions, plans?: PlanLog) {
    this.#log = log
    this.#requests = requests
    this.#slow = slow
    this.#plans = plans
  }

  /** Whether the slowest statements have to be known. */
  get isTimed(): boolean {
    return this.#slow < Infinity
  }

  /** Whether the values of statements have to be kept until the end of their request, or job. */
  get explains(): boolean {
    return this.#plans !== undefined
  }

  /** A statement was answered. */
  addStatement(record: WorkRecord, statement: SentStatement): void {
    const slowest = this.#slowest.get(record) ?? []
    this.#slowest.set(record, slowest)
    const at = slowest.findIndex(({ milliseconds }) => milliseconds < statement.milliseconds)
    if (at < 0) slowest.push(statement)
    else slowest.splice(at, 0, statement)
    slowest.length = Math.min(slowest.length, MAX_SLOWEST)
  }

  /** It has ended. */
  add(record: Recorded): void {
    const isSlow = record.milliseconds > this.#slow
    const statements = isSlow ? (this.#slowest.get(record) ?? []) : []
    this.#slowest.delete(record) // they may have values, and a subscriber may keep the record
    if (!isSlow && !this.#requests) return
    const slowest = statements.map(describeStatement)
    const fields = { ...this.fieldsOf(record), ...(slowest.length > 0 ? { slowest } : {}) }
    const further = slowest.map(({ milliseconds, shape }) => `; ${milliseconds} ms: ${shape}`).join('')
    this.#log.entry(isSlow ? 'warn' : 'info', `${this.lineOf(record)}${isSlow ? ', slow' : ''}${further}`, fields)
    const share = this.#slow * EXPLAINED_SHARE
    if (isSlow)
      this.#plans?.add(
        this.subjectOf(record),
        statements.filter(({ milliseconds }) => milliseconds >= share),
      )
  }

  protected abstract fieldsOf(record: Recorded): Readonly<Record<string, unknown>>
  protected abstract lineOf(record: Recorded): string
  /** How the plans of its statements name it. */
  protected abstract subjectOf(record: Recorded): Subject
}

/** The fields of what it has done in databases. */
export function workFields({ statements, statementMilliseconds, retries, transaction }: WorkRecord) {
  return {
    ...(statements > 0 ? { statements, statementMilliseconds: rounded(statementMilliseconds) } : {}),
    ...(retries > 0 ? { retries } : {}),
    ...(transaction === undefined ? {} : { transaction }),
  }
}

/** `, 3 statements in 4.5 ms, 1 retry, commit` */
export function describeWork({ statements, statementMilliseconds, retries, transaction }: WorkRecord): string {
  return (
    (statements > 0 ? `, ${counted(statements, 'statement')} in ${rounded(statementMilliseconds)} ms` : '') +
    (retries > 0 ? `, ${retries === 1 ? '1 retry' : `${retries} retries`}` : '') +
    (transaction === undefined ? '' : `, ${transaction}`)
  )
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
