import { BootError } from '../core/boot-error.js'
import { memo } from '../core/memo.js'
import { emittedMethodTypes } from '../di/metadata.js'
import { compileDecoder } from '../schema/input/decode.js'
import { compileStandardParts } from '../schema/input/standard-schema-parts.js'
import { COMPONENT, illFormedStrings, ValidatorCompiler } from '../schema/input/validate.js'
import { SchemaWriter } from '../schema/json-schema/writer.js'
import { compileEncoder, ResponseMismatchError } from '../schema/output/encode.js'
import type { Issue } from '../schema/shape/issue.js'
import type { Shape } from '../schema/shape/shape.js'
import { isDescribed, shapeOf } from '../schema/shape/shape-of.js'
import type { JobDeclaration } from './declaration.js'
import { InvalidJobInput, UnreadableJobInput } from './errors.js'
import { MAX_INPUT } from './tables.js'

const MAX_ISSUES = 20
/** Lists and objects within each other, as in the body of a request: functions call themselves for each of them. */
const MAX_LEVELS = 100
const TOO_DEEP: Issue = {
  path: '',
  message: `has more than ${MAX_LEVELS} lists and objects within each other, or contains itself`,
}

/** Writes the input of a job as JSON, and reads it. */
export interface JobInput {
  /** @throws InvalidJobInput for a value that the job could not read. */
  write(value: unknown): string
  /** A new value for each call. @throws UnreadableJobInput */
  read(json: string): unknown
}

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
  const shape = shapeOf(type)
  const place = `${job.type.name}.${job.member}`
  if (shape.kind !== 'object' || shape.rowKey)
    throw new BootError(
      `${place}: its input is ${shape.kind === 'object' ? `the model ${shape.name}` : `a value of kind ${shape.kind}`}. Write a class with @Field() properties, such as the id of the row: the row may change before the job runs.`,
    )
  if (compileStandardParts(shape))
    throw new BootError(
      `${place}: a schema of another library cannot be the input of a job, or a part of it: it is stored as JSON. Declare it with @Field().`,
    )
  const validate = memo(() => compileValidate(shape))
  const encode = memo(() => compileEncoder(shape, { direction: 'input' }))
  const decode = memo(() => compileDecoder(shape))
  return {
    write(value) {
      const json = encoded(job.name, () => encode()(value))
      const issues = isDeeper(json, MAX_LEVELS) ? [TOO_DEEP] : validate()(json)
      if (issues.length > 0) throw new InvalidJobInput(job.name, issues)
      return bounded(job.name, JSON.stringify(json))
    },
    read(text) {
      const json = parsed(job.name, text)
      const issues = isDeeper(json, MAX_LEVELS) ? [TOO_DEEP] : validate()(json)
      if (issues.length > 0) throw new UnreadableJobInput(job.name, issues)
      return decode()(json)
    },
  }
}

// Fields that a class has no more are ignored: jobs that were added by the version before must run.
function compileValidate(shape: Shape): (json: unknown) => readonly Issue[] {
  const writer = new SchemaWriter({ forValidation: true, prefix: COMPONENT, unknownFields: 'ignore' })
  const schema = writer.write(shape, 'input')
  const validate = new ValidatorCompiler(writer.components).compile(schema)
  return (json) => [...validate(json), ...illFormedStrings(json, '', MAX_ISSUES)].slice(0, MAX_ISSUES)
}

function encoded(name: string, encode: () => unknown): unknown {
  try {
    return encode()
  } catch (error) {
    if (error instanceof ResponseMismatchError)
      throw new InvalidJobInput(name, [{ path: error.path, message: error.reason }])
    if (error instanceof RangeError) throw new InvalidJobInput(name, [TOO_DEEP], { cause: error }) // of the stack
    throw error
  }
}

function isDeeper(json: unknown, levels: number): boolean {
  if (typeof json !== 'object' || json === null) return false
  return levels === 0 || Object.values(json).some((value) => isDeeper(value, levels - 1))
}

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UnreadableJobInput(name, [{ path: '', message: 'is not JSON' }])
  }
}

function bounded(name: string, text: string): string {
  if (Buffer.byteLength(text) <= MAX_INPUT) return text
  const message = `has more than ${MAX_INPUT} bytes: store it in a table, and give the job its id`
  throw new InvalidJobInput(name, [{ path: '', message }])
}
