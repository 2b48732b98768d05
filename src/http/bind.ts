import type { IncomingHttpHeaders } from 'node:http'
import { compileDecoder, type Decode } from '../schema/decode.js'
import type { JsonSchema, SchemaWriter } from '../schema/json-schema.js'
import type { Shape } from '../schema/shape.js'
import { fromText } from '../schema/text.js'
import type { Issue, Validate, ValidatorCompiler } from '../schema/validate.js'
import { illFormedTexts } from '../schema/well-formed.js'
import { InvalidInput, type InputIssue } from './errors.js'
import type { Input } from './inputs.js'
import { readJson, type Request } from './request.js'

/**
 * Reads and validates all inputs of a route. What it resolves to makes their values: anew for each run of the handler.
 * Rejects with InvalidInput that names every issue, or with what reading the body throws.
 */
export type Bind = (request: Request, variables: Readonly<Record<string, string>>) => Promise<() => unknown[]>

interface Source {
  readonly request: Request
  readonly variables: Readonly<Record<string, string>>
  readonly body: unknown
}

/** An input with everything that binding it takes. */
interface BoundInput {
  readonly input: Input
  /** The value as JSON; undefined when the client left it out. */
  readonly read: (source: Source) => unknown
  readonly decode: Decode
}

/** The JSON Schema of all inputs of a route at once: each under its index. */
export function inputSchema(inputs: readonly Input[], writer: SchemaWriter): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      inputs.map((input, index) => [index, writer.write(input.kind === 'group' ? input.shape : input.property.shape)]),
    ),
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
  const bound = inputs.map((input): BoundInput => ({ input, read: reader(input), decode: decoder(input) }))
  const readsBody = inputs.some((input) => input.kind === 'body')
  return async (request, variables) => {
    const body = readsBody ? await readJson(request.raw, bodyLimit) : undefined
    return readAll(bound, validate, { request, variables, body: body?.json })
  }
}

function readAll(bound: readonly BoundInput[], validate: Validate, source: Source): () => unknown[] {
  const values: Record<number, unknown> = {}
  for (const [index, { read }] of bound.entries()) {
    const value = read(source)
    if (value !== undefined) values[index] = value
  }
  const issues = [...validate(values), ...illFormedTexts(values)]
  if (issues.length > 0)
    throw new InvalidInput('The request does not fit its description.', {
      errors: issues.map((issue) => place(issue, bound)),
    })
  return () => bound.map(({ decode }, index) => decode(values[index]))
}

// '/0/age' is what the validator says of the first input's age.
function place({ path, message }: Issue, bound: readonly BoundInput[]): InputIssue {
  const [, index = '', rest = ''] = /^\/(\d+)(.*)$/s.exec(path) ?? []
  const { input } = bound[Number(index)] as BoundInput // every path starts with the index of the input that it is about
  return { in: input.in, path: input.kind === 'value' ? `/${input.name}${rest}` : rest, message }
}

function isOptional(input: Input): boolean {
  return input.kind === 'group' || input.property.optional
}

function decoder(input: Input): Decode {
  if (input.kind === 'group') return compileDecoder(input.shape)
  const { shape, default: byDefault } = input.property
  const decode = compileDecoder(shape)
  return (json) => (json === undefined ? byDefault : decode(json))
}

function reader(input: Input): BoundInput['read'] {
  switch (input.kind) {
    case 'body':
      return ({ body }) => body
    case 'group':
      return groupReader(input)
    case 'value': {
      const { name, property } = input
      if (input.in === 'path') return ({ variables }) => readText(property.shape, [variables[name] as string])
      return input.in === 'query'
        ? ({ request }) => readText(property.shape, request.query.get(name))
        : ({ request }) => readText(property.shape, headerValues(request.headers, name))
    }
  }
}

function groupReader(input: Extract<Input, { kind: 'group' }>): BoundInput['read'] {
  const properties = [...input.shape.properties()]
  return ({ request }) => {
    const texts = (name: string) =>
      input.in === 'query'
        ? request.query.get(name)
        : headerValues(request.headers, name.replaceAll('_', '-').toLowerCase())
    const values = properties.map(([name, { shape }]) => [name, readText(shape, texts(name))] as const)
    return Object.fromEntries(values.filter(([, value]) => value !== undefined))
  }
}

function headerValues(headers: IncomingHttpHeaders, name: string): readonly string[] | undefined {
  const value = headers[name]
  return value === undefined ? undefined : [value].flat()
}

// A list is given by repetition. A single value that is repeated stays a list, which validation refuses.
function readText(shape: Shape, texts: readonly string[] | undefined): unknown {
  if (texts === undefined) return undefined
  if (shape.kind === 'array') return texts.map((text) => fromText(shape.items, text))
  return texts.length === 1 ? fromText(shape, texts[0] as string) : texts
}
