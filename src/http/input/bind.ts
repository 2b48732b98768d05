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
import { illFormedStrings, type Validate, type ValidatorCompiler } from '../../schema/input/validate.js'
import { parseableShape } from '../../schema/input/parse-string.js'
import { type Issue, MAX_ISSUES } from '../../schema/shape/issue.js'
import { type IndexedInput, invalidInputs } from './input-issues.js'
import { headerName, type Input } from './parameters.js'
import { objectReader, stringReader, type StringSource } from './read-strings.js'
import { type JsonBody, parseBody, readBody } from './body.js'
import { compileForm, type ParseForm } from './form.js'
import type { Request } from '../request.js'
import {
  type CheckStage,
  type Decodable,
  NO_BODY,
  NO_INPUTS,
  type Receive,
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
) => RequestInputs | Promise<RequestInputs>

/** The inputs of each stage of a plan but the last, by their index. */
export interface InputStages {
  readonly inputs: readonly (readonly number[])[]
  /** Whether the first stage is built before the body is received. */
  readonly receivesLate: boolean
}

interface Source extends StringSource {
  readonly body: JsonBody | undefined
}

/** An input with the functions that bind it. They are compiled at its first value: writing the schemas of the inputs has found what is wrong with them. */
class BoundInput implements IndexedInput {
  readonly index: number
  readonly input: Input
  readonly findParts: FindParts | undefined
  /** The value as JSON; undefined when the client did not send it. */
  read = (source: Source): unknown => (this.read = reader(this.input))(source)
  decode: Decode = (json) => (this.decode = decoder(this.input, this.findParts !== undefined))(json)

  constructor(input: Input, index: number) {
    this.index = index
    this.input = input
    this.findParts = compileStandardParts(input.kind === 'group' ? input.whole : input.property.shape)
  }
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

/** The options of a route for its inputs, in addition to their types. */
export interface BindOptions {
  /** The largest body, in bytes. */
  readonly bodyLimit: number
  /** Whether an interceptor needs `request.bodyBytes`. */
  readonly keepsBody: boolean
  readonly stages: InputStages
}

/** Compiles what binds a route's inputs. */
export function compileBind(
  inputs: readonly Input[],
  schema: InputsSchema,
  validators: ValidatorCompiler,
  { bodyLimit, keepsBody, stages }: BindOptions,
): Bind {
  if (inputs.length === 0) return () => NO_INPUTS
  const bound = inputs.map((input, index) => new BoundInput(input, index))
  const checkAll = compileCheck(bound, schema, validators, bodyLimit)
  const receive = compileReceive(inputs, bodyLimit, keepsBody)
  if (stages.inputs.length > 0) {
    const checks = compileStages(bound, schema, validators, bodyLimit, stages.inputs, checkAll)
    const compiled = { checks, receive, receivesLate: stages.receivesLate }
    return (request, variables) => new StagedInputs(compiled, request, variables).begin()
  }
  return receive
    ? (request, variables) => receive(request).then((received) => checkAll({ request, variables, received }))
    : (request, variables) => checkAll({ request, variables, received: NO_BODY })
}

/** The checks of each stage: of its own inputs, and of those of the route. */
function compileStages(
  bound: readonly BoundInput[],
  schema: InputsSchema,
  validators: ValidatorCompiler,
  bodyLimit: number,
  stages: readonly (readonly number[])[],
  checkAll: Check,
): readonly StageChecks[] {
  const all =
    (part: readonly BoundInput[]): CheckStage =>
    (source) =>
      checkAll(source, part)
  const checks = stages.map((indexes): StageChecks => {
    const part = bound.filter(({ index }) => indexes.includes(index))
    return { own: compileCheck(part, partOf(schema, indexes), validators, bodyLimit), all: all(part) }
  })
  const last = all(bound.filter(({ index }) => !stages.flat().includes(index)))
  return [...checks, { own: last, all: last }]
}

/** Reads the body of a route; undefined if it has none. */
function compileReceive(inputs: readonly Input[], limit: number, keepsBody: boolean): Receive | undefined {
  if (!inputs.some(({ kind }) => kind === 'body')) return undefined
  const media = inputs.flatMap((input) => (input.kind === 'body' ? (input.media ?? []) : []))[0]
  if (media) return (request, stop) => media.read(request, limit, stop)
  return keepsBody
    ? async (request) => (request.bodyBytes = await readBody(request, limit))
    : (request) => readBody(request, limit)
}

/** The JSON of each input that the client sent, by its index. */
type Values = Record<number, unknown>

/** Inputs that were read and are valid. */
class ValidInputs implements Decodable {
  readonly #bound: readonly BoundInput[]
  readonly #values: Values
  readonly #body: JsonBody | undefined
  #runs = 0

  constructor(bound: readonly BoundInput[], values: Values, body: JsonBody | undefined) {
    this.#bound = bound
    this.#values = values
    this.#body = body
  }

  /** The values of the inputs, by their index: new ones for each run of the handler. */
  read(): unknown[] {
    if (this.#runs++ > 0 && this.#body) this.#readBodyAgain(this.#body)
    const decoded: unknown[] = []
    for (const input of this.#bound) decoded[input.index] = input.decode(this.#values[input.index])
    return decoded
  }

  // A handler may modify its input, and run again: then it receives what was sent. A body that another library validated is copied instead.
  #readBodyAgain(body: JsonBody): void {
    for (const { index, input, findParts } of this.#bound)
      if (input.kind === 'body' && !findParts && this.#values[index] !== undefined) this.#values[index] = body.again()
  }
}

/** Reads and validates inputs; `part` of them will be decoded. */
type Check = (source: UnboundRequest, part?: readonly BoundInput[]) => ValidInputs | Promise<ValidInputs>

function compileCheck(
  bound: readonly BoundInput[],
  schema: JsonSchema,
  validators: ValidatorCompiler,
  limit: number,
): Check {
  const validate = validators.compile(schema)
  const readsBody = bound.some(({ input }) => input.kind === 'body')
  const parseForm = formParserOf(bound)
  const mayHaveParts = bound.some(({ findParts }) => findParts)
  return ({ request, variables, received }, part = bound) => {
    const parsed = Buffer.isBuffer(received) ? undefined : received
    const body = parsed ?? (readsBody ? parseBody(request, received as Buffer, limit, parseForm) : undefined)
    const values = readValues(bound, { request, variables, body })
    const issues = issuesOf(bound, validate, values, body)
    if (mayHaveParts) return checkParts(bound, values, body, issues).then(() => new ValidInputs(part, values, body))
    if (issues.length > 0) throw invalidInputs(issues.slice(0, MAX_ISSUES), bound)
    return new ValidInputs(part, values, body)
  }
}

function formParserOf(bound: readonly BoundInput[]): ParseForm | undefined {
  const form = bound.flatMap(({ input }) => (input.kind === 'body' ? (input.form ?? []) : []))[0]
  return form && compileForm(form)
}

/** The part of the schema of all inputs for some of them. */
function partOf({ type, properties, required }: InputsSchema, indexes: readonly number[]): InputsSchema {
  const isPart = (name: string) => indexes.includes(Number(name))
  return {
    type,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isPart(name))),
    required: required.filter(isPart),
  }
}

function readValues(bound: readonly BoundInput[], source: Source): Values {
  // V8 adds an element to an object that has none in slow code. To ajv, undefined is a missing property.
  const values: Values = { 0: undefined, 1: undefined, 2: undefined, 3: undefined }
  for (const input of bound) {
    const value = input.read(source)
    if (value !== undefined) values[input.index] = value
  }
  return values
}

/** The issues of values against their schema, and those of texts and numbers that no database accepts. */
function issuesOf(
  bound: readonly BoundInput[],
  validate: Validate,
  values: Values,
  body: JsonBody | undefined,
): readonly Issue[] {
  const isLarge = body?.isLarge === true
  let issues = validate(values, isLarge)
  for (const { index, input } of bound) {
    if (values[index] === undefined || (input.kind === 'body' && body && !body.mayBeIllFormed)) continue
    const illFormed = illFormedStrings(values[index], `/${index}`, isLarge ? 1 : MAX_ISSUES)
    if (illFormed.length > 0) issues = [...issues, ...illFormed]
  }
  return issues
}

/** Validates the parts that other libraries validate, which may also convert them. @throws InvalidInput with these issues and those known. */
async function checkParts(
  bound: readonly BoundInput[],
  values: Values,
  body: JsonBody | undefined,
  own: readonly Issue[],
): Promise<void> {
  const isLarge = body?.isLarge === true
  const issues =
    isLarge && own.length > 0 ? own : [...own, ...(await validateStandardParts(bound, values, own, isLarge))]
  if (issues.length > 0) throw invalidInputs(issues.slice(0, MAX_ISSUES), bound)
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
  if (!input.property.optional && input.property.default === undefined) return decode
  const missing = compileDefault(input.property)
  return (json) => (json === undefined ? missing() : decode(json))
}

function reader(input: Input): (source: Source) => unknown {
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
