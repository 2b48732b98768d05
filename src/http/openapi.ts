import { OpenApiBuilder } from 'openapi3-ts/oas31'
import type {
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  PathItemObject,
  ResponseObject,
  ResponsesObject,
  SchemaObject,
} from 'openapi3-ts/oas31'
import { BootError } from '../di/errors.js'
import { defaultAsJson, type JsonSchema, type SchemaWriter } from '../schema/json-schema.js'
import type { Property } from '../schema/shape.js'
import { headerName, type Input } from './inputs.js'
import { openApiPath } from './path.js'
import { hasBody } from './respond.js'
import type { Route } from './route.js'

/** What the document says of the whole API. */
export interface Info {
  readonly title?: string
  readonly version?: string
  readonly description?: string
}

/**
 * The OpenAPI 3.1 document of some routes, from the very schemas that validate and serialize.
 *
 * @throws BootError when two operations claim one operationId, or a class has the name of a component of every document.
 */
export function openApiDocument(routes: readonly Route[], writer: SchemaWriter, info: Info): OpenAPIObject {
  const builder = OpenApiBuilder.create().addInfo({ title: 'API', version: '0.0.0', ...info })
  const paths = new Map<string, PathItemObject>()
  const ids = new Map<string, string>()
  for (const route of routes) {
    const operation = operationOf(route, writer)
    refuseSecondId(ids, operation.operationId as string, route.name)
    const path = openApiPath(route.segments)
    paths.set(path, { ...paths.get(path), [route.method.toLowerCase()]: operation })
  }
  for (const [path, item] of paths) builder.addPath(path, item)
  for (const [name] of PROBLEM_COMPONENTS) refuseTakenName(writer, name)
  const components = new Map([...writer.components, ...PROBLEM_COMPONENTS])
  for (const name of namesUsed([...paths.values()], components))
    builder.addSchema(name, components.get(name) as SchemaObject)
  return builder.getSpec()
}

// The writer also has what only validation refers to, such as a class whose properties come from the query.
function namesUsed(value: unknown, components: ReadonlyMap<string, JsonSchema>, used = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return used
  for (const [key, part] of Object.entries(value)) {
    const name = key === '$ref' && typeof part === 'string' ? part.slice(REFERENCE.length) : undefined
    if (name === undefined) namesUsed(part, components, used)
    else if (!used.has(name)) namesUsed(components.get(name), components, used.add(name))
  }
  return used
}

function operationOf(route: Route, writer: SchemaWriter): OperationObject {
  const { inputs } = route.plan
  const { summary, description, deprecated, operationId } = route.options
  const body = inputs.find((input) => input.kind === 'body')
  const parameters = uniqueParameters(inputs.flatMap((input) => parametersOf(input, writer)))
  return {
    operationId: operationId ?? defaultId(route),
    tags: [...route.tags],
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? { requestBody: { required: !body.property.optional, content: json(writer.write(body.property.shape)) } }
      : {}),
    responses: responsesOf(route, writer),
  }
}

// HeroController.list -> heroList
function defaultId({ controller, member }: Route): string {
  const group = controller.name.replace(/Controller$/, '') || controller.name
  return `${group[0]?.toLowerCase()}${group.slice(1)}${member[0]?.toUpperCase()}${member.slice(1)}`
}

function parametersOf(input: Input, writer: SchemaWriter): ParameterObject[] {
  switch (input.kind) {
    case 'body':
      return []
    case 'value':
      return [parameterOf(input.in, input.name, input.property, writer)]
    case 'group':
      return [...input.shape.properties()].map(([name, property]) =>
        parameterOf(input.in, input.in === 'header' ? headerName(name) : name, property, writer),
      )
  }
}

function parameterOf(
  place: 'path' | 'query' | 'header',
  name: string,
  property: Property,
  writer: SchemaWriter,
): ParameterObject {
  const { description, deprecated, ...schema } = writer.write(property.shape)
  const byDefault = defaultAsJson(property)
  return {
    name,
    in: place,
    required: place === 'path' || !property.optional,
    ...(description === undefined ? {} : { description: description as string }),
    ...(deprecated === undefined ? {} : { deprecated: deprecated as boolean }),
    schema: { ...schema, ...(byDefault === undefined ? {} : { default: byDefault }) } as SchemaObject,
  }
}

// Two services of one request may each read the same header.
function uniqueParameters(parameters: readonly ParameterObject[]): ParameterObject[] {
  return [...new Map(parameters.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter])).values()]
}

function responsesOf(route: Route, writer: SchemaWriter): ResponsesObject {
  const { plan, options } = route
  const problems = new Map<number, string>(
    Object.entries(options.errors ?? {}).map(([code, text]) => [Number(code), text]),
  )
  if (plan.inputs.length > 0) problems.set(422, problems.get(422) ?? 'An input does not fit its description')
  if (plan.inputs.some((input) => input.kind === 'body'))
    problems.set(413, 'The body is too large').set(415, 'The body is not JSON')
  return {
    ...successesOf(route, writer),
    ...Object.fromEntries([...problems].map(([code, text]) => [code, problem(text)])),
    default: problem('Any other error'),
  }
}

function successesOf(route: Route, writer: SchemaWriter): ResponsesObject {
  const others = [...route.others].map(([status, { description, shape }]) => [
    status,
    shape ? { description, content: json(writer.write(shape)) } : { description },
  ])
  return { ...usualOf(route, writer), ...Object.fromEntries(others) }
}

function usualOf({ response, status, emptyStatus, options }: Route, writer: SchemaWriter): ResponsesObject {
  if (options.produces !== undefined)
    return { [status]: { description: 'Success', content: { [options.produces]: {} } } }
  if (!hasBody(status)) return { [status]: DONE }
  return response
    ? { [status]: { description: 'Success', content: json(writer.write(response)) } }
    : { [emptyStatus]: DONE, [status]: { description: 'Success', content: json({}) } }
}

const DONE: ResponseObject = { description: 'Done' }

function json(schema: JsonSchema) {
  return { 'application/json': { schema: schema as SchemaObject } }
}

function problem(description: string): ResponseObject {
  return { description, content: { 'application/problem+json': { schema: { $ref: `${REFERENCE}Problem` } } } }
}

const REFERENCE = '#/components/schemas/'

const PROBLEM_COMPONENTS: readonly [string, JsonSchema][] = [
  [
    'Problem',
    {
      type: 'object',
      description: 'What went wrong: RFC 9457.',
      properties: {
        type: { type: 'string', format: 'uri-reference' },
        title: { type: 'string' },
        status: { type: 'integer', minimum: 400, maximum: 599 },
        detail: { type: 'string' },
        instance: { type: 'string', format: 'uri-reference' },
        errors: { type: 'array', items: { $ref: `${REFERENCE}InputIssue` } },
      },
      required: ['type', 'title', 'status'],
    },
  ],
  [
    'InputIssue',
    {
      type: 'object',
      properties: {
        in: { type: 'string', enum: ['path', 'query', 'header', 'body'] },
        path: { type: 'string', description: 'A JSON Pointer to the value.' },
        message: { type: 'string' },
      },
      required: ['in', 'path', 'message'],
    },
  ],
]

function refuseTakenName({ components }: SchemaWriter, name: string): void {
  if (components.has(name))
    throw new BootError(`A class is named ${name}, as the document calls a part of every error. Rename the class.`)
}

function refuseSecondId(ids: Map<string, string>, id: string, name: string): void {
  const other = ids.get(id)
  if (other !== undefined) {
    throw new BootError(
      `${name} and ${other} have the same operationId '${id}'. Rename a controller, or give one { operationId: '...' }.`,
    )
  }
  ids.set(id, name)
}
