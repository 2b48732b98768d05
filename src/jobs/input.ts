import { emittedMethodTypes } from '../di/metadata.js'
import { isDescribed } from '../schema/shape/shape-of.js'
import { type StoredData, storedData } from '../schema/stored-data.js'
import type { JobDeclaration } from './declaration.js'
import { InvalidJobInput, UnreadableJobInput } from './errors.js'
import { MAX_INPUT } from './tables.js'

/** Writes the input of a job as JSON, and reads it. */
export type JobInput = Pick<StoredData, 'write' | 'read'>

const inputs = new WeakMap<object, Map<string, JobInput>>()

/** The input of a job: that of its first parameter, if its class declares fields. */
export function inputOf(job: JobDeclaration): JobInput {
  const known = inputs.get(job.type) ?? new Map<string, JobInput>()
  inputs.set(job.type, known)
  const input = known.get(job.member) ?? newInput(job)
  known.set(job.member, input)
  return input
}

/** The class of the first parameter, if it declares data; services have no fields. */
export function inputClassOf({ type, member, params }: JobDeclaration): unknown {
  const [first] = params ?? emittedMethodTypes(type.prototype, member) ?? []
  return isDescribed(first) ? first : undefined
}

const NOTHING: JobInput = {
  write: () => '{}',
  read: () => undefined,
}

function newInput(job: JobDeclaration): JobInput {
  const type = inputClassOf(job)
  if (type === undefined) return NOTHING
  return storedData(type, {
    place: `${job.type.name}.${job.member}`,
    name: 'input',
    of: 'a job',
    direction: job.inputClass ? 'output' : 'input', // an event, as it was published
    most: MAX_INPUT,
    instead: 'store it in a table, and give the job its id',
    invalid: (issues, options) => new InvalidJobInput(job.name, issues, options),
    unreadable: (issues) => new UnreadableJobInput(job.name, issues),
  })
}
