import type { RequestRecord, SentStatement } from '../../core/events/request-record.js'
import { describeStatement, type EntryLog, methodOf, placeOf, rounded, tagOf, traceFields } from './log-entry.js'
import type { LogOptions } from './log-options.js'
import type { PlanLog } from './plan-log.js'

/** How many statements of a slow request are named. */
const MAX_SLOWEST = 3
/** Statements that take at least this part of `slow` are explained: a slow request also has fast ones. */
const EXPLAINED_SHARE = 0.1
/** Writes one entry for each request, at its end. */
export class RequestLog {
  readonly #log: EntryLog
  readonly #requests: boolean
  readonly #slow: number
  readonly #plans: PlanLog | undefined
  readonly #slowest = new WeakMap<RequestRecord, SentStatement[]>()

  /** @param plans receives the slowest statements of slow requests; undefined if they are not explained. */
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

  /** Whether the values of statements have to be kept until the end of their request. */
  get explains(): boolean {
    return this.#plans !== undefined
  }

  /** A statement of the request was answered. */
  addStatement(record: RequestRecord, statement: SentStatement): void {
    const slowest = this.#slowest.get(record) ?? []
    this.#slowest.set(record, slowest)
    const at = slowest.findIndex(({ milliseconds }) => milliseconds < statement.milliseconds)
    if (at < 0) slowest.push(statement)
    else slowest.splice(at, 0, statement)
    slowest.length = Math.min(slowest.length, MAX_SLOWEST)
  }

  /** The request has ended. */
  add(record: RequestRecord): void {
    const isSlow = record.milliseconds > this.#slow
    const statements = isSlow ? (this.#slowest.get(record) ?? []) : []
    this.#slowest.delete(record) // they may have values, and a subscriber may keep the record
    if (!isSlow && !this.#requests) return
    const slowest = statements.map(describeStatement)
    const fields = { ...fieldsOf(record), ...(slowest.length > 0 ? { slowest } : {}) }
    const further = slowest.map(({ milliseconds, shape }) => `; ${milliseconds} ms: ${shape}`).join('')
    this.#log.entry(isSlow ? 'warn' : 'info', `${lineOf(record)}${isSlow ? ', slow' : ''}${further}`, fields)
    const share = this.#slow * EXPLAINED_SHARE
    if (isSlow)
      this.#plans?.add(
        record,
        statements.filter(({ milliseconds }) => milliseconds >= share),
      )
  }
}

function fieldsOf(record: RequestRecord): Readonly<Record<string, unknown>> {
  const {
    id,
    handler,
    status,
    bytes,
    milliseconds,
    isAborted,
    statements,
    statementMilliseconds,
    retries,
    transaction,
    trace,
  } = record
  return {
    id,
    ...traceFields(trace),
    method: methodOf(record),
    [record.route === undefined ? 'path' : 'route']: placeOf(record),
    ...(handler === undefined ? {} : { handler }),
    ...(status === undefined ? {} : { status }),
    ...(isAborted ? { aborted: true } : {}),
    milliseconds: rounded(milliseconds),
    bytes,
    ...(statements > 0 ? { statements, statementMilliseconds: rounded(statementMilliseconds) } : {}),
    ...(retries > 0 ? { retries } : {}),
    ...(transaction === undefined ? {} : { transaction }),
  }
}

/** `POST /heros/:id 201 in 12.3 ms, 345 bytes, 3 statements in 4.5 ms, commit [4f2c]` */
function lineOf(record: RequestRecord): string {
  const { id, status, bytes, milliseconds, isAborted, statements, statementMilliseconds, retries, transaction } = record
  const outcome = [...(status === undefined ? [] : [status]), ...(isAborted ? ['aborted'] : [])].join(' ')
  return (
    `${methodOf(record)} ${placeOf(record)} ${outcome} in ${rounded(milliseconds)} ms, ${bytes} bytes` +
    (statements > 0 ? `, ${counted(statements, 'statement')} in ${rounded(statementMilliseconds)} ms` : '') +
    (retries > 0 ? `, ${retries === 1 ? '1 retry' : `${retries} retries`}` : '') +
    (transaction === undefined ? '' : `, ${transaction}`) +
    ` ${tagOf(id, record.trace)}`
  )
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
