import { memo } from '../../core/memo.js'
import { andThen, isThenable } from '../../core/promises.js'
import { compileDecoder, compileDefault, type Decode } from '../../schema/input/decode.js'
import type { SchemaWriter } from '../../schema/json-schema/writer.js'
import type { JsonSchema, ObjectShape, Shape } from '../../schema/shape/shape.js'
import {
  compileStandardParts,
  validateParts,
  type FindParts,
  type Part,
  pathOf,
} from '../../schema/input/standard-schema-parts.js'
import { parseableShape } from '../../schema/input/parse-string.js'
import { type Issue, MAX_ISSUES } from '../../schema/shape/issue.js'
import { type Validate, type ValidatorCompiler } from '../../schema/input/validate.js'
import { illFormed, type IndexedInput, invalidInputs } from './input-issues.js'
import { headerName, type Input } from './parameters.js'
import { objectReader, stringReader, type StringSource } from './read-strings.js'
import type { JsonBody } from './json.js'
import { compileForm } from './form.js'
import type { ParseForm } from './form-fields.js'
import { parseBody, readBody, type Request } from '../request.js'
import {
  type CheckStage,
  type Decoder,
  NO_BODY,
  type Receive,
  type Received,
  type RequestInputs,
  type StageChecks,
  StagedInputs,
  type UnboundRequest,
} from './staged-inputs.js'

/**
 * Reads and validates the inputs of a route; returns what makes their values, new ones for each run of the handler. Where classes
 * authenticate the request, only the bytes of the body and the inputs of these classes are read, and the others when these classes are built.
 * Throws, or rejects with, InvalidInput, which has all issues, or what reading the body throws; so does `read()` of later stages.
 */
export type Bind = (
  request: Request,
  variables: Readonly<Record<string, string>>,
) => RequestInputs | PromiseLike<RequestInputs>

/** The inputs of each stage of a plan but the last, by their index. */
export interface InputStages {
  readonly inputs: readonly (readonly number[])[]
  /** Whether the first stage is built before the body is received. */
  readonly receivesLate: boolean
}

interface Source extends StringSource {
  readonly body: JsonBody | undefined
}

/** An input with the compiled functions that bind it. */
interface BoundInput extends IndexedInput {
  /** The value as JSON; undefined when the client did not send it. */
  readonly read: (source: Source) => unknown
  readonly decode: Decode
  readonly findParts: FindParts | undefined
}

/** One JSON Schema for all inputs of a route: an object with each input under its index. */
export interface InputsSchema extends JsonSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required: readonly string[]
}

export function inputSchema(inputs: readonly Input[], writer: SchemaWriter): InputsSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(inputs.map((input, index) => [index, writer.write(shapeOfInput(input), 'input')])),
    required: inputs.flatMap((input, index) => (isOptional(input) ? [] : [String(index)])),
  }
}

/** Compiles what binds a route's inputs. */
export function compileBind(
  inputs: readonly Input[],
  schema: InputsSchema,
  validators: ValidatorCompiler,
  bodyLimit: number,
  stages: InputStages,
): Bind {
  if (inputs.length === 0) return () => NO_INPUTS
  const bound = inputs.map(boundInput)
  const checkAll = compileCheck(bound, schema, validators, bodyLimit)
  const receive = compileReceive(inputs, bodyLimit)
  if (stages.inputs.length === 0) {
    return (request, variables) =>
      andThen(receive(request), (received) =>
        andThen(checkAll({ request, variables, received }), (checked) => ({ read: decoderOf(bound, checked) })),
      )
  }
  const all =
    (part: readonly BoundInput[]): CheckStage =>
    (source) =>
      decoderAfter(checkAll(source), part)
  const parts = stages.inputs.map((indexes): StageChecks => {
    const part = bound.filter(({ index }) => indexes.includes(index))
    const check = compileCheck(part, partOf(schema, indexes), validators, bodyLimit)
    return { own: (source) => decoderAfter(check(source), part), all: all(part) }
  })
  const last = all(bound.filter(({ index }) => !stages.inputs.flat().includes(index)))
  const compiled = { checks: [...parts, { own: last, all: last }], receive, receivesLate: stages.receivesLate }
  return (request, variables) => new StagedInputs(compiled, request, variables).begin()
}

function decoderAfter(checked: Checked | Promise<Checked>, bound: readonly BoundInput[]): Decoder | Promise<Decoder> {
  return isThenable(checked) ? checked.then((later) => decoderOf(bound, later)) : decoderOf(bound, checked)
}

/** What reads the body of a route, if it has one. */
function compileReceive(inputs: readonly Input[], limit: number): Receive {
  if (!inputs.some(({ kind }) => kind === 'body')) return () => NO_BODY
  const media = inputs.flatMap((input) => (input.kind === 'body' ? (input.media ?? []) : []))[0]
  if (media) return (request, stop) => media.read(request, limit, stop)
  return (request) => {
    const reading = readBody(request, limit)
    return request.keepsBody ? reading.then((bytes) => (request.bodyBytes = bytes)) : reading
  }
}

/** What reads and decodes an input is compiled at its first value: writing the schemas of the inputs has found what is wrong with them. */
function boundInput(input: Input, index: number): BoundInput {
  const findParts = compileStandardParts(input.kind === 'group' ? input.whole : input.property.shape)
  const read = memo(() => reader(input))
  const decode = memo(() => decoder(input, findParts !== undefined))
  return { index, input, findParts, read: (source) => read()(source), decode: (json) => decode()(json) }
}

const NO_INPUTS: RequestInputs = { read: () => [] }

/** The JSON of each input that the client sent, by its index. */
type Values = Record<number, unknown>

/** The JSON of the inputs, valid, and of the body. */
interface Checked {
  readonly values: Values
  readonly body: JsonBody | undefined
}

/** Reads and validates these inputs. */
function compileCheck(bound: readonly BoundInput[], schema: JsonSchema, validators: ValidatorCompiler, limit: number) {
  const validate = validators.compile(schema)
  const readsBody = bound.some(({ input }) => input.kind === 'body')
  const parseForm = formParserOf(bound)
  const mayHaveParts = bound.some(({ findParts }) => findParts)
  const bodyOf = (request: Request, received: Received) => {
    if (!Buffer.isBuffer(received)) return received
    return readsBody ? parseBody(request, received, limit, parseForm) : undefined
  }
  return ({ request, variables, received }: UnboundRequest): Checked | Promise<Checked> => {
    const body = bodyOf(request, received)
    const source = { request, variables, body }
    if (mayHaveParts) return readWithParts(bound, validate, source).then((values) => ({ body, values }))
    const { values, issues } = readAll(bound, validate, source)
    if (issues.length > 0) throw invalidInputs(issues.slice(0, MAX_ISSUES), bound)
    return { body, values }
  }
}

function formParserOf(bound: readonly BoundInput[]): ParseForm | undefined {
  const form = bound.flatMap(({ input }) => (input.kind === 'body' ? (input.form ?? []) : []))[0]
  return form && compileForm(form)
}

/** Of the schema of all inputs, the part for some of them. */
function partOf({ type, properties, required }: InputsSchema, indexes: readonly number[]): InputsSchema {
  const isPart = (name: string) => indexes.includes(Number(name))
  return {
    type,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isPart(name))),
    required: required.filter(isPart),
  }
}

/** Makes the values of these inputs: new ones for each run. */
function decoderOf(bound: readonly BoundInput[], { values, body }: Checked): Decoder {
  let runs = 0
  return () => {
    if (runs++ > 0 && body) readBodyAgain(bound, values, body)
    const decoded: unknown[] = []
    for (const { index, decode } of bound) decoded[index] = decode(values[index])
    return decoded
  }
}

// A handler may modify its input, and run again: then it receives what was sent. A body that another library validated is copied instead.
function readBodyAgain(bound: readonly BoundInput[], values: Values, body: JsonBody): void {
  for (const { index, input, findParts } of bound)
    if (input.kind === 'body' && !findParts && values[index] !== undefined) values[index] = body.again()
}

/** Reads the inputs and checks them against their schema. */
function readAll(bound: readonly BoundInput[], validate: Validate, source: Source) {
  const values = newValues()
  for (const { index, read } of bound) {
    const value = read(source)
    if (value !== undefined) values[index] = value
  }
  const isLarge = source.body?.isLarge === true
  const invalid = validate(values, isLarge)
  const illegible = illFormed(bound, values, source.body, isLarge ? 1 : MAX_ISSUES)
  return { values, issues: illegible.length > 0 ? [...invalid, ...illegible] : invalid }
}

// V8 adds an element to an object that has none in slow code. To ajv, undefined is a missing property.
function newValues(): Values {
  return { 0: undefined, 1: undefined, 2: undefined, 3: undefined }
}

async function readWithParts(bound: readonly BoundInput[], validate: Validate, source: Source): Promise<Values> {
  const { values, issues: own } = readAll(bound, validate, source)
  const isLarge = source.body?.isLarge === true
  const issues =
    isLarge && own.length > 0 ? own : [...own, ...(await validateStandardParts(bound, values, own, isLarge))]
  if (issues.length > 0) throw invalidInputs(issues.slice(0, MAX_ISSUES), bound)
  return values
}

/** Issues that libraries with Standard Schema find in their parts. Parts that already have an issue are not validated. */
async function validateStandardParts(
  bound: readonly BoundInput[],
  values: Values,
  known: readonly Issue[],
  isLarge: boolean,
): Promise<readonly Issue[]> {
  const parts: Part[] = []
  for (const { index, findParts } of bound) findParts?.(values, index, undefined, parts)
  if (parts.length === 0) return []
  const invalidPaths = new Set(known.map(({ path }) => path))
  const remaining = invalidPaths.size === 0 ? parts : parts.filter((part) => !invalidPaths.has(pathOf(part)))
  const issues = await validateParts(remaining, MAX_ISSUES, isLarge)
  return issues.filter(({ path }) => !invalidPaths.has(path))
}

// A value of path, query or header is a string: this shape accepts the strings that its type can parse.
function shapeOfInput(input: Input): Shape {
  if (input.kind === 'body') return input.property.shape
  return parseableShape(input.kind === 'group' ? input.shape : input.property.shape)
}

function isOptional(input: Input): boolean {
  return input.kind === 'group' || input.property.optional
}

function decoder(input: Input, copies: boolean): Decode {
  if (input.kind === 'group') return compileDecoder(input.whole)
  const decode = compileDecoder(input.property.shape, { copies })
  const missing = compileDefault(input.property)
  return (json) => (json === undefined ? missing() : decode(json))
}

function reader(input: Input): BoundInput['read'] {
  switch (input.kind) {
    case 'body':
      return ({ body }) => body?.json
    case 'group':
      return objectReader(
        input.in,
        (name) => (input.in === 'header' ? headerName(name) : name),
        parseableShape(input.shape) as ObjectShape, // parseableShape() keeps the kind of a shape
      )
    case 'value':
      return stringReader(input.in, input.name, parseableShape(input.property.shape))
  }
}
