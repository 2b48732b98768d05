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
import type { Issue } from '../../schema/shape/issue.js'
import { MOST_ISSUES, type Validate, type ValidatorCompiler } from '../../schema/input/validate.js'
import { illFormedStrings } from '../../schema/input/unicode.js'
import { InvalidInput, type InputIssue } from '../errors.js'
import { headerName, type Input } from './parameters.js'
import { objectReader, stringReader, type StringSource } from './read-strings.js'
import type { JsonBody } from './json.js'
import { readJson, type Request } from '../request.js'

/**
 * Reads and validates all inputs of a route. Resolves to a function that makes their values: new ones for each run of the handler.
 * Rejects with InvalidInput, which has all issues, or with what reading the body throws.
 */
export type Bind = (request: Request, variables: Readonly<Record<string, string>>) => Promise<() => unknown[]>

interface Source extends StringSource {
  readonly body: JsonBody | undefined
}

/** An input with the compiled functions that bind it. */
interface BoundInput {
  readonly input: Input
  /** The value as JSON; undefined when the client did not send it. */
  readonly read: (source: Source) => unknown
  readonly decode: Decode
  readonly findParts: FindParts | undefined
}

/** One JSON Schema for all inputs of a route: an object with each input under its index. */
export function inputSchema(inputs: readonly Input[], writer: SchemaWriter): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(inputs.map((input, index) => [index, writer.write(shapeOfInput(input), 'input')])),
    required: inputs.flatMap((input, index) => (isOptional(input) ? [] : [String(index)])),
  }
}

/** Compiles what binds a route's inputs. */
export function compileBind(
  inputs: readonly Input[],
  schema: JsonSchema,
  validators: ValidatorCompiler,
  bodyLimit: number,
): Bind {
  if (inputs.length === 0) return () => Promise.resolve(() => [])
  const validate = validators.compile(schema)
  const bound = inputs.map((input): BoundInput => {
    const findParts = compileStandardParts(input.kind === 'group' ? input.whole : input.property.shape)
    return { input, read: reader(input), decode: decoder(input, findParts !== undefined), findParts }
  })
  const readsBody = inputs.some((input) => input.kind === 'body')
  return async (request, variables) => {
    const body = readsBody ? await readJson(request, bodyLimit) : undefined
    const values = await readAll(bound, validate, { request, variables, body })
    let runs = 0
    return () => {
      if (runs++ > 0 && body) readBodyAgain(bound, values, body)
      return bound.map(({ decode }, index) => decode(values[index]))
    }
  }
}

// A handler may modify its input, and run again: then it receives what was sent. A body that another library validated is copied instead.
function readBodyAgain(bound: readonly BoundInput[], values: Values, body: JsonBody): void {
  for (const [index, { input, findParts }] of bound.entries())
    if (input.kind === 'body' && !findParts && values[index] !== undefined) values[index] = body.again()
}

async function readAll(bound: readonly BoundInput[], validate: Validate, source: Source): Promise<Values> {
  const values: Values = {}
  for (const [index, { read }] of bound.entries()) {
    const value = read(source)
    if (value !== undefined) values[index] = value
  }
  const isLarge = source.body?.isLarge === true
  const own = [...validate(values, isLarge), ...illFormed(bound, values, source, isLarge ? 1 : MOST_ISSUES)]
  const issues = isLarge && own.length > 0 ? own : [...own, ...(await validateStandardParts(bound, values, own))]
  if (issues.length > 0) throw invalid(issues.slice(0, MOST_ISSUES).map((issue) => locate(issue, bound)))
  return values
}

/** The JSON of each input that the client sent, by its index. */
type Values = Record<number, unknown>

/** Issues that libraries with Standard Schema find in their parts. Parts that already have an issue are not validated. */
async function validateStandardParts(
  bound: readonly BoundInput[],
  values: Values,
  known: readonly Issue[],
): Promise<readonly Issue[]> {
  const parts: Part[] = []
  for (const [index, { findParts }] of bound.entries()) findParts?.(values, index, undefined, parts)
  if (parts.length === 0) return []
  const invalidPaths = new Set(known.map(({ path }) => path))
  const remaining = invalidPaths.size === 0 ? parts : parts.filter((part) => !invalidPaths.has(pathOf(part)))
  const issues = await validateParts(remaining, MOST_ISSUES)
  return issues.filter(({ path }) => !invalidPaths.has(path))
}

function invalid(errors: readonly InputIssue[]): InvalidInput {
  return new InvalidInput('The request does not fit its description.', { errors })
}

/** Characters of a path. It has property names that the client chose, and each of a hundred issues may repeat a long one. */
const LONGEST_PATH = 500

/** The path, or the longest short enough path of a value that contains it. */
function shortened(path: string): string {
  return path.length <= LONGEST_PATH ? path : path.slice(0, path.lastIndexOf('/', LONGEST_PATH))
}

function illFormed(
  bound: readonly BoundInput[],
  values: Readonly<Record<number, unknown>>,
  { body }: Source,
  most: number,
): readonly Issue[] {
  return bound.flatMap(({ input }, index) =>
    input.kind === 'body' && body && !body.mayBeIllFormed ? [] : illFormedStrings(values[index], `/${index}`, most),
  )
}

// The validator reports '/0/age' for the age of the first input.
function locate({ path, message }: Issue, bound: readonly BoundInput[]): InputIssue {
  const [, index = '', ...keys] = shortened(path).split('/')
  const rest = keys.map((key) => `/${key}`).join('')
  const { input } = bound[Number(index)] as BoundInput // every path starts with the index of an input
  return { in: input.in, path: input.kind === 'value' ? `/${input.name}${rest}` : rest, message }
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
