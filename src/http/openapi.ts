import { OpenApiBuilder } from 'openapi3-ts/oas31'
import type {
  InfoObject,
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  PathItemObject,
  ResponseObject,
  ResponsesObject,
  SchemaObject,
  ServerObject,
  TagObject,
} from 'openapi3-ts/oas31'
import { BootError } from '../di/errors.js'
import { defaultAsJson, type JsonSchema, type SchemaWriter } from '../schema/json-schema.js'
import { isOmissible, propertiesOf, type Property } from '../schema/shape.js'
import { headerName, type Input } from './inputs.js'
import { openApiPath } from './path.js'
import { hasBody } from './respond.js'
import type { Route } from './route.js'
import { type NamedScheme, schemesOf, type SecurityScheme } from './security.js'

/** What the document says of the whole API, beside its operations. */
export interface ApiDescription {
  /** Title, version, description, contact, license and the like. */
  readonly info?: Partial<InfoObject>
  /** Where the API is reached, when that is not where the document comes from. */
  readonly servers?: readonly ServerObject[]
  /** What the groups of operations are about, in the order in which they are shown. */
  readonly tags?: readonly TagObject[]
  /** Other parts of the document's root: `{ 'x-logo': { url: '...' } }`. */
  readonly extensions?: Readonly<Record<`x-${string}`, unknown>>
}

/** What the routes do not tell of themselves. */
interface Circumstances extends ApiDescription {
  /** Whether a route may find that a database is away. */
  readonly needsDatabase: boolean
}

/**
 * The OpenAPI 3.1 document of some routes, from the very schemas that validate and serialize.
 *
 * @throws BootError when two operations claim one operationId, two schemes one name, or a class has the name of a component of every document.
 */
export function openApiDocument(
  routes: readonly Route[],
  writer: SchemaWriter,
  { info, servers, tags, extensions, needsDatabase }: Circumstances,
): OpenAPIObject {
  const builder = OpenApiBuilder.create({
    openapi: '3.1.0',
    info: { title: 'API', version: '0.0.0', ...info },
    ...(servers ? { servers: [...servers] } : {}),
    ...(tags ? { tags: [...tags] } : {}),
    paths: {},
    ...extensions,
  })
  writeBodies(routes, writer)
  for (const [path, item] of pathItems(routes, writer, needsDatabase)) builder.addPath(path, item)
  for (const [name, scheme] of securitySchemes(routes)) builder.addSecurityScheme(name, scheme)
  for (const [name] of PROBLEM_COMPONENTS) refuseTakenName(writer, name)
  for (const [name, component] of [...writer.components, ...PROBLEM_COMPONENTS])
    builder.addSchema(name, component as SchemaObject)
  return builder.getSpec()
}

// Of a class that comes in otherwise than it goes out, what comes in has the plain name.
function writeBodies(routes: readonly Route[], writer: SchemaWriter): void {
  for (const { plan } of routes)
    for (const input of plan.inputs) if (input.kind === 'body') writer.write(input.property.shape, 'input')
}

function pathItems(
  routes: readonly Route[],
  writer: SchemaWriter,
  needsDatabase: boolean,
): Map<string, PathItemObject> {
  const paths = new Map<string, PathItemObject>()
  const ids = new Map<string, string>()
  for (const route of routes) {
    const operation = operationOf(route, writer, needsDatabase)
    refuseSecondId(ids, operation.operationId as string, route.name)
    const path = openApiPath(route.segments)
    paths.set(path, { ...paths.get(path), [route.method.toLowerCase()]: operation })
  }
  return paths
}

function securitySchemes(routes: readonly Route[]): Map<string, SecurityScheme> {
  const schemes = new Map<string, SecurityScheme>()
  for (const { name, scheme } of routes.flatMap(schemesOfRoute)) {
    if ((schemes.get(name) ?? scheme) !== scheme)
      throw new BootError(`Two security schemes are named ${name}. Name one: @Security({ ... }, { name: '...' }).`)
    schemes.set(name, scheme)
  }
  return schemes
}

function schemesOfRoute({ plan }: Route): readonly NamedScheme[] {
  return schemesOf(plan.steps.map(({ token }) => token))
}

function operationOf(route: Route, writer: SchemaWriter, needsDatabase: boolean): OperationObject {
  const { inputs } = route.plan
  const schemes = schemesOfRoute(route)
  const { summary, description, deprecated, operationId } = route.options
  const body = inputs.find((input) => input.kind === 'body')
  const all = uniqueParameters(inputs.flatMap((input) => parametersOf(input, writer)))
  const parameters = all.filter((parameter) => !isSaidElsewhere(parameter, schemes))
  return {
    operationId: operationId ?? defaultId(route),
    tags: [...route.tags],
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? {
          requestBody: {
            required: !body.property.optional,
            content: json(writer.write(body.property.shape, 'input')),
          },
        }
      : {}),
    responses: responsesOf(route, writer, needsDatabase),
    // One requirement with all schemes: whoever asks must meet each.
    ...(schemes.length > 0
      ? { security: [Object.fromEntries(schemes.map(({ name, scopes }) => [name, [...scopes]]))] }
      : {}),
  }
}

const ELSEWHERE: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])

// OpenAPI describes these headers by the bodies and by the security schemes.
function isSaidElsewhere(parameter: ParameterObject, schemes: readonly NamedScheme[]): boolean {
  const name = parameter.name.toLowerCase()
  if (parameter.in === 'header' && ELSEWHERE.has(name)) return true
  return schemes.some(({ scheme }) => scheme.in === parameter.in && scheme.name?.toLowerCase() === name)
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
      return propertiesOf(input.shape, 'input').map(([name, property]) =>
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
  const { description, deprecated, ...schema } = writer.write(property.shape, 'input')
  const byDefault = defaultAsJson(property)
  return {
    name,
    in: place,
    required: place === 'path' || !isOmissible(property, 'input'),
    ...(description === undefined ? {} : { description: description as string }),
    ...(deprecated === undefined ? {} : { deprecated: deprecated as boolean }),
    schema: { ...schema, ...(byDefault === undefined ? {} : { default: byDefault }) } as SchemaObject,
  }
}

// Two services of one request may each read the same header.
function uniqueParameters(parameters: readonly ParameterObject[]): ParameterObject[] {
  return [...new Map(parameters.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter])).values()]
}

function responsesOf(route: Route, writer: SchemaWriter, needsDatabase: boolean): ResponsesObject {
  const { plan, options } = route
  const hasBody = plan.inputs.some((input) => input.kind === 'body')
  const problems: Readonly<Record<number, string>> = {
    ...(schemesOfRoute(route).length > 0 ? { 401: 'It is not known who asks' } : {}),
    ...(hasBody ? { 413: 'The body is too large', 415: 'The body is not JSON' } : {}),
    ...(plan.inputs.length > 0 ? { 422: 'An input does not fit its description' } : {}),
    ...(needsDatabase ? { 503: 'The database cannot be reached' } : {}),
    ...options.errors,
  }
  return {
    ...successesOf(route, writer),
    ...Object.fromEntries(Object.entries(problems).map(([code, text]) => [code, problem(text)])),
    default: problem('Any other error'),
  }
}

function successesOf(route: Route, writer: SchemaWriter): ResponsesObject {
  const others = [...route.others].map(([status, { description, shape }]) => [
    status,
    shape ? { description, content: json(writer.write(shape, 'output')) } : { description },
  ])
  return { ...usualOf(route, writer), ...Object.fromEntries(others) }
}

function usualOf({ response, status, emptyStatus, options }: Route, writer: SchemaWriter): ResponsesObject {
  if (options.produces !== undefined)
    return { [status]: { description: 'Success', content: { [options.produces]: {} } } }
  if (!hasBody(status)) return { [status]: DONE }
  return response
    ? { [status]: { description: 'Success', content: json(writer.write(response, 'output')) } }
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
