import type { ModelStatic } from 'sequelize'
import { currentSession, type Session } from '../db/session/session.js'
import { sequelizeOf } from '../db/sequelize/internals.js'
import { HttpError } from '../http/errors.js'
import { lockOf } from './key.js'
import type { IdempotencyRecord } from './record.js'
import { isConflict, type Row, statementsOf, type Statements } from './statements.js'
import type { StoredResponse } from './stored-response.js'

/** The row that a request tries to claim. */
export interface ClaimedRow {
  readonly id: string
  readonly route: string
  readonly request: string
  /** Milliseconds until it expires, by the clock of the database. */
  readonly lifetime: number
}

/** The response that is stored for this request, or what stores that of its handler in the transaction of the claim. */
export type Claim =
  | { readonly kind: 'stored'; readonly response: StoredResponse }
  | { readonly kind: 'claimed'; keep(response: StoredResponse): Promise<void> }

/**
 * Claims a row in the current transaction. Of the transactions that do so at the same time, one gets it.
 *
 * @throws HttpError with 409 if another one has it and is not committed, with 422 if it belongs to another request.
 */
export async function claim(model: ModelStatic<IdempotencyRecord>, row: ClaimedRow): Promise<Claim> {
  const session = sessionOf(model)
  session.commitLast()
  const statements = statementsOf(model)
  const found = await refusingConflicts(() => claimOrRead(session, statements, row))
  if (found === undefined) return { kind: 'claimed', keep: (response) => keep(session, statements, row.id, response) }
  if (found.status === null || found.headers === null) throw stillRunning()
  if (found.request !== row.request)
    throw new HttpError(
      422,
      'This Idempotency-Key was sent before with another request: with another body, other parameters or other headers. Send a new key.',
    )
  return { kind: 'stored', response: { status: found.status, headers: found.headers, body: found.body } }
}

/** Whose rows the current transaction reaches. */
export function ownerOf(model: ModelStatic<IdempotencyRecord>): string | undefined {
  return sessionOf(model).owner
}

function sessionOf(model: ModelStatic<IdempotencyRecord>): Session {
  const session = currentSession(sequelizeOf(model))
  if (session) return session
  throw new Error(`@Idempotent(): the handler has no transaction in the database of ${model.name}.`)
}

/** Undefined if the row was claimed, else the existing row. */
async function claimOrRead(session: Session, statements: Statements, row: ClaimedRow): Promise<Row | undefined> {
  const values = { ...row, lock: lockOf(row.id) }
  const [claimed] = await session.executeOwn(statements.claim(values))
  if (claimed && !statements.takeOver) return undefined
  const [found] = await session.executeOwn(statements.read(values))
  if (!found) throw stillRunning() // the other one has not committed it
  const hasExpired = Number(found.expires) <= Number(found.now)
  if (!statements.takeOver) {
    if (hasExpired) throw stillRunning() // the other one has taken it over, and not committed that
    return found
  }
  if (found.status === null) return undefined
  if (!hasExpired) return found
  await session.executeOwn(statements.takeOver(values))
  return undefined
}

async function keep(session: Session, statements: Statements, id: string, response: StoredResponse): Promise<void> {
  // Nothing is saved of a transaction that the handler rolls back, which may be unable to execute further statements.
  if (!session.isRollingBack) await session.executeOwn(statements.keep({ id, ...response }))
}

function stillRunning(cause?: unknown): HttpError {
  return new HttpError(409, 'A request with this Idempotency-Key is still running; send it again later.', {
    headers: { 'retry-after': '1' },
    cause,
  })
}

async function refusingConflicts<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isConflict(error) ? stillRunning(error) : error
  }
}
