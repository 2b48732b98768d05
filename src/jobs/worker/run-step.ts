import type { Abort } from '../../core/abort.js'
import type { JobRun } from '../../core/events/job-run.js'
import { SecondConnectionError } from '../../db/errors.js'
import type { UnitNeeds } from '../../db/session/session-unit.js'
import type { Session } from '../../db/session/session.js'
import type { AsJson } from '../../schema/output/as-json.js'
import { LostLeaseError } from '../errors.js'
import { READS } from '../../db/own-tables/own-database.js'
import type { JobDatabase } from '../job-database.js'
import type { Held } from '../statements/ends.js'
import { MAX_INPUT } from '../tables.js'

const MAX_NAME = 100

/** The attempt that runs a step. */
interface StepContext {
  readonly database: JobDatabase
  readonly claimed: Held
  /** `mail.welcome 42` */
  readonly title: string
  readonly abort: Abort
  readonly record: JobRun | undefined
}

/**
 * Runs a step in a transaction of its own, which also keeps the result, or returns that of an earlier attempt. Whether there is one is read in another: a
 * transaction that begins by the first statement of the work holds nothing while the work waits for others.
 */
export async function runStep<T>(
  context: StepContext,
  name: string,
  work: (session: Session) => Promise<T>,
): Promise<AsJson<T>> {
  requireName(name)
  const { abort, claimed, database } = context
  if (abort.isAborted) throw abort.reason
  const find = database.statements.step(claimed.id, name)
  const [kept] = await inSession(context, name, (session) => session.executeOwn(find), READS)
  const json = kept ? kept.result : await inSession(context, name, (session) => keep(session, context, name, work))
  return JSON.parse(json ?? 'null') as AsJson<T> // of jsonOf()
}

async function inSession<R>(
  context: StepContext,
  name: string,
  work: (session: Session) => Promise<R>,
  needs?: UnitNeeds,
): Promise<R> {
  try {
    return await context.database.owner.session(work, needs, context.record)
  } catch (error) {
    throw error instanceof SecondConnectionError ? lateStep(context, name, error) : error
  }
}

function requireName(name: string): void {
  // MySQL takes names for one that differ in spaces at their ends.
  if (name !== '' && name.length <= MAX_NAME && name === name.trim()) return
  throw new TypeError(`attempt.step(): the name of a step has 1 to ${MAX_NAME} characters, and no spaces at its ends.`)
}

/** Returns the result as JSON. */
async function keep(
  session: Session,
  { database: { statements }, claimed, title, abort }: StepContext,
  name: string,
  work: (session: Session) => Promise<unknown>,
): Promise<string> {
  const json = jsonOf(await work(session), name)
  if (abort.isAborted) throw abort.reason
  // Locked until the commit: no other attempt runs the step meanwhile.
  const held = await session.executeOwn(statements.lockIfHeld(claimed))
  if (held.length === 0) throw new LostLeaseError(title)
  await session.executeOwn(statements.keepStep(claimed.id, name, json))
  return json
}

/** @throws TypeError for a result that cannot be stored. */
function jsonOf(result: unknown, step: string): string {
  const json = stringify(result, step) ?? 'null'
  if (Buffer.byteLength(json) <= MAX_INPUT) return json
  throw new TypeError(`attempt.step('${step}'): its result has more than ${MAX_INPUT} bytes. Store it in a table.`)
}

/** Undefined for what JSON leaves out, such as a function. */
function stringify(result: unknown, step: string): string | undefined {
  try {
    return JSON.stringify(result)
  } catch (cause) {
    throw new TypeError(
      `attempt.step('${step}'): its result cannot be written as JSON. Return only what JSON has, such as String(id) for a bigint.`,
      { cause },
    )
  }
}

function lateStep({ title }: StepContext, step: string, cause: unknown): Error {
  return new Error(
    `The job ${title} calls attempt.step('${step}') when its own transaction has begun, which would hold two connections. Call steps before its own statements, or put those into a step, too.`,
    { cause },
  )
}
