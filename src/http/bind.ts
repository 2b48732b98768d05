import { compileDecoder, compileDefault, type Decode } from '../schema/decode.js'
import type { JsonSchema, SchemaWriter } from '../schema/json-schema.js'
import type { ObjectShape, Shape } from '../schema/shape.js'
import { compileFindParts, consult, type FindParts } from '../schema/foreign.js'
import { textual } from '../schema/text.js'
import type { Issue } from '../schema/issue.js'
import { MOST_ISSUES, type Validate, type ValidatorCompiler } from '../schema/validate.js'
import { illFormedValues, mayBeIllFormed } from '../schema/well-formed.js'
import { InvalidInput, type InputIssue } from './errors.js'
import { headerName, type Input } from './inputs.js'
import { objectReader, textReader, type TextSource } from './read-texts.js'
import { type JsonBody, readJson, type Request } from './request.js'

/**
 * Reads and validates all inputs of a route. What it resolves to makes their values: anew for each run of the handler.
 * Rejects with InvalidInput that names every issue, or with what reading the body throws.
 */
export type Bind = (request: Request, variables: Readonly<Record<string, string>>) => Promise<() => unknown[]>

interface Source extends TextSource {
  readonly body: JsonBody | undefined
}

/** Characters of a body beyond which only its first issue is told: to find all of them could take seconds. */
const LARGE = 64 * 1024

/** An input with everything that binding it takes. */
interface BoundInput {
  readonly input: Input
  /** The value as JSON; undefined when the client left it out. */
  readonly read: (source: Source) => unknown
  readonly decode: Decode
  readonly findParts: FindParts | undefined
}

/** The JSON Schema of all inputs of a route at once: each under its index. */
export function inputSchema(inputs: readonly Input[], writer: SchemaWriter): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(inputs.map((input, index) => [index, writer.write(shapeOfInput(input), 'input')])),
    required: inputs.flatMap((input, index) => (isOptional(input) ? [] : [String(index)])),
  }
}

/** Compiles the binding of a route's inputs. */
export function compileBind(
  inputs: readonly Input[],
  schema: JsonSchema,
  validators: ValidatorCompiler,
  bodyLimit: number,
): Bind {
  if (inputs.length === 0) return () => Promise.resolve(() => [])
  const validate = validators.compile(schema)
  const bound = inputs.map((input): BoundInput => ({
    input,
    read: reader(input),
    decode: decoder(input),
    findParts: compileFindParts(input.kind === 'group' ? input.whole : input.property.shape),
  }))
  const readsBody = inputs.some((input) => input.kind === 'body')
  return async (request, variables) => {
    const body = readsBody ? await readJson(request, bodyLimit) : undefined
    const values = await readAll(bound, validate, { request, variables, body })
    return () => bound.map(({ decode }, index) => decode(values[index]))
  }
}

async function readAll(bound: readonly BoundInput[], validate: Validate, source: Source): Promise<Values> {
  const values: Values = {}
  for (const [index, { read }] of bound.entries()) {
    const value = read(source)
    if (value !== undefined) values[index] = value
  }
  const isLarge = source.body !== undefined && source.body.text.length > LARGE
  const ours = [...validate(values, isLarge), ...illFormed(bound, values, source)]
  const issues = isLarge && ours.length > 0 ? ours : [...ours, ...(await consultOthers(bound, values, ours))]
  if (issues.length > 0) throw invalid(issues.slice(0, MOST_ISSUES).map((issue) => place(issue, bound)))
  return values
}

/** The JSON of each input, by its index; of those that the client sent. */
type Values = Record<number, unknown>

/** What other libraries find wrong with the parts that are theirs, where nothing else is wrong with them. */
async function consultOthers(
  bound: readonly BoundInput[],
  values: Values,
  known: readonly Issue[],
): Promise<readonly Issue[]> {
  const parts = bound.flatMap(({ findParts }, index) => findParts?.(values, index, `/${index}`) ?? [])
  if (parts.length === 0) return []
  const wrong = new Set(known.map(({ path }) => path))
  const issues = await consult(parts.filter(({ path }) => !wrong.has(path)))
  return issues.filter(({ path }) => !wrong.has(path))
}

function invalid(errors: readonly InputIssue[]): InvalidInput {
  return new InvalidInput('The request does not fit its description.', { errors })
}

function illFormed(
  bound: readonly BoundInput[],
  values: Readonly<Record<number, unknown>>,
  { body }: Source,
): readonly Issue[] {
  return bound.flatMap(({ input }, index) =>
    input.kind === 'body' && body && !mayBeIllFormed(body.text) ? [] : illFormedValues(values[index], `/${index}`),
  )
}

// '/0/age' is what the validator says of the first input's age.
function place({ path, message }: Issue, bound: readonly BoundInput[]): InputIssue {
  const [, index = '', rest = ''] = /^\/(\d+)(.*)$/s.exec(path) ?? []
  const { input } = bound[Number(index)] as BoundInput // every path starts with the index of the input that it is about
  return { in: input.in, path: input.kind === 'value' ? `/${input.name}${rest}` : rest, message }
}

// What our own validation checks: of a text, whether it is what its type says.
function shapeOfInput(input: Input): Shape {
  if (input.kind === 'body') return input.property.shape
  return textual(input.kind === 'group' ? input.shape : input.property.shape)
}

function isOptional(input: Input): boolean {
  return input.kind === 'group' || input.property.optional
}

function decoder(input: Input): Decode {
  if (input.kind === 'group') return compileDecoder(input.whole)
  const decode = compileDecoder(input.property.shape)
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
        textual(input.shape) as ObjectShape,
      )
    case 'value':
      return textReader(input.in, input.name, textual(input.property.shape))
  }
}
