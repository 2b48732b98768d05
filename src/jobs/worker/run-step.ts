import type { Abort } from '../../core/abort.js'
import type { JobRun } from '../../core/events/job-run.js'
import { SecondConnectionError } from '../../db/errors.js'
import type { Session } from '../../db/session/session.js'
import type { AsJson } from '../as-json.js'
import { LostLeaseError } from '../errors.js'
import type { JobDatabase } from '../job-database.js'
import type { Held } from '../statements.js'
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

/** Runs a step in a transaction of its own, which also keeps the result, or returns that of an earlier attempt. */
export async function runStep<T>(
  context: StepContext,
  name: string,
  work: (session: Session) => Promise<T>,
): Promise<AsJson<T>> {
  requireName(name)
  const { abort, database, record } = context
  if (abort.isAborted) throw abort.reason
  const json = await database.owner
    .session((session) => keptResult(session, context, name, work), {}, record)
    .catch((error: unknown) => {
      throw error instanceof SecondConnectionError ? lateStep(context, name, error) : error
    })
  return JSON.parse(json) as AsJson<T> // of jsonOf()
}

function requireName(name: string): void {
  // MySQL takes names for one that differ in spaces at their ends.
  if (name !== '' && name.length <= MAX_NAME && name === name.trim()) return
  throw new TypeError(`attempt.step(): the name of a step has 1 to ${MAX_NAME} characters, and no spaces at its ends.`)
}

async function keptResult(
  session: Session,
  { database: { statements }, claimed, title, abort }: StepContext,
  name: string,
  work: (session: Session) => Promise<unknown>,
): Promise<string> {
  const [kept] = await session.executeOwn(statements.step(claimed.id, name))
  if (kept) return kept.result ?? 'null'
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
