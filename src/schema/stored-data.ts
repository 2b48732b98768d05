import { BootError } from '../core/boot-error.js'
import { escapeForLog } from '../core/log-text.js'
import { memo } from '../core/memo.js'
import { compileDecoder } from './input/decode.js'
import { compileStandardParts } from './input/standard-schema-parts.js'
import { COMPONENT, illFormedStrings, ValidatorCompiler } from './input/validate.js'
import { SchemaWriter } from './json-schema/writer.js'
import { compileEncoder, ResponseMismatchError } from './output/encode.js'
import type { Issue } from './shape/issue.js'
import type { Direction, Shape } from './shape/shape.js'
import { shapeOf } from './shape/shape-of.js'

const MAX_ISSUES = 20
/** Lists and objects within each other, as in the body of a request: functions call themselves for each of them. */
const MAX_LEVELS = 100
const TOO_DEEP: Issue = {
  path: '',
  message: `has more than ${MAX_LEVELS} lists and objects within each other, or contains itself`,
}

/** Writes values of a class as JSON that is stored, and reads them. */
export interface StoredData {
  /** @throws what `invalid` of its options returns, for a value that could not be read. */
  write(value: unknown): string
  /** A new value for each call. @throws what `unreadable` of its options returns. */
  read(json: string): unknown
  /** The same for JSON that is parsed. */
  readParsed(json: unknown): unknown
}

export interface StoredDataOptions {
  /** The place of the class, for mistakes in it: `MailJobs.welcome`. */
  readonly place: string
  /** What the values are: `input`, `data`. */
  readonly name: string
  /** What they are of: `a job`. */
  readonly of: string
  /** Which properties are stored: those of an input, or those that may be sent. */
  readonly direction: Direction
  /** The largest value, in bytes of JSON, and what to do with a larger one. */
  readonly most: number
  readonly instead: string
  readonly invalid: (issues: readonly Issue[], options?: ErrorOptions) => Error
  readonly unreadable: (issues: readonly Issue[]) => Error
}

/**
 * The stored data of a class with `@Field()` properties. Fields that the class has no more are ignored: what an older version of the program has written must be
 * read.
 *
 * @throws BootError for a class whose values cannot be stored.
 */
export function storedData(type: unknown, options: StoredDataOptions): StoredData {
  const shape = storableShape(type, options)
  const { direction } = options
  const validate = memo(() => compileValidate(shape, direction))
  const encode = memo(() => compileEncoder(shape, { direction }))
  const decode = memo(() => compileDecoder(shape, { direction }))
  const issuesOf = (json: unknown) => (isDeeper(json, MAX_LEVELS) ? [TOO_DEEP] : validate()(json))
  const readParsed = (json: unknown): unknown => {
    const issues = issuesOf(json)
    if (issues.length > 0) throw options.unreadable(issues)
    return decode()(json)
  }
  return {
    write(value) {
      const json = encoded(options, () => encode()(value))
      const issues = issuesOf(json)
      if (issues.length > 0) throw options.invalid(issues)
      return bounded(options, JSON.stringify(json))
    },
    read: (text) => readParsed(parsed(options, text)),
    readParsed,
  }
}

function storableShape(type: unknown, { place, name, of }: StoredDataOptions): Shape {
  const shape = shapeOf(type)
  if (shape.kind !== 'object' || shape.rowKey)
    throw new BootError(
      `${place}: its ${name} is ${shape.kind === 'object' ? `the model ${shape.name}` : `a value of kind ${shape.kind}`}. Write a class with @Field() properties, such as the id of the row: the row may change before it is read.`,
    )
  if (compileStandardParts(shape))
    throw new BootError(
      `${place}: a schema of another library cannot be the ${name} of ${of}, or a part of it: it is stored as JSON. Declare it with @Field().`,
    )
  return shape
}

function compileValidate(shape: Shape, direction: Direction): (json: unknown) => readonly Issue[] {
  const writer = new SchemaWriter({ forValidation: true, prefix: COMPONENT, unknownFields: 'ignore' })
  const schema = writer.write(shape, direction)
  const validate = new ValidatorCompiler(writer.components).compile(schema)
  return (json) => [...validate(json), ...illFormedStrings(json, '', MAX_ISSUES)].slice(0, MAX_ISSUES)
}

function encoded({ invalid }: StoredDataOptions, encode: () => unknown): unknown {
  try {
    return encode()
  } catch (error) {
    if (error instanceof ResponseMismatchError) throw invalid([{ path: error.path, message: error.reason }])
    if (error instanceof RangeError) throw invalid([TOO_DEEP], { cause: error }) // of the stack
    throw error
  }
}

function isDeeper(json: unknown, levels: number): boolean {
  if (typeof json !== 'object' || json === null) return false
  return levels === 0 || Object.values(json).some((value) => isDeeper(value, levels - 1))
}

function parsed({ unreadable }: StoredDataOptions, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw unreadable([{ path: '', message: 'is not JSON' }])
  }
}

function bounded({ most, instead, invalid }: StoredDataOptions, text: string): string {
  if (Buffer.byteLength(text) <= most) return text
  throw invalid([{ path: '', message: `has more than ${most} bytes: ${instead}` }])
}

/** Characters of one issue, and of its path: a path may have the keys that a client sent. */
const MAX_ISSUE = 400
const MAX_PATH = 200

/** For the message of an error. */
export function describeIssues(issues: readonly Issue[]): string {
  return issues.map(describeIssue).join('; ')
}

function describeIssue({ path, message }: Issue): string {
  return `${escapeForLog(path || '/', MAX_PATH)} ${escapeForLog(message.replace(/\.$/, ''), MAX_ISSUE)}`
}
