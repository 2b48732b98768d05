import type { HeadersObject, ResponseObject, ResponsesObject, SchemaObject } from 'openapi3-ts/oas31'
import { type JsonSchema, type Shape, isOmissible, propertiesOf, type Property } from '../../schema/shape/shape.js'
import type { SchemaWriter } from '../../schema/json-schema/writer.js'
import { mayConflict } from './may-conflict.js'
import type { DocumentedBodies } from '../error-format.js'
import { type Problem, toProblem, UNKNOWN } from '../problem.js'
import { hasBody, isJson } from '../output/respond.js'
import type { ItemStream } from '../output/declared-stream.js'
import type { Route } from '../routing/route.js'
import { descriptionsOf, headersOfRefusals, refusalsOf } from '../routing/refusals.js'
import { guardOf } from '../routing/guard.js'
import { schemesOf } from '../routing/security.js'
import type { InputIssue } from '../errors.js'
import type { Input } from '../input/parameters.js'

/** The OpenAPI responses of an operation: its declared successes, and the errors that are possible. */
export function responsesOf(route: Route, writer: SchemaWriter, problems: DocumentedProblems): ResponsesObject {
  return {
    ...withHeaders(withMedia(successesOf(route, writer), route), interceptedHeaders(route)),
    ...problems.of(route),
  }
}

function withMedia(responses: ResponsesObject, { status, interceptors }: Route): ResponsesObject {
  const media = interceptors.flatMap(({ documents }) => Object.entries(documents?.media ?? {}))
  const usual: ResponseObject | undefined = responses[status]
  if (media.length === 0 || !usual) return responses
  const more = media.map(([type, description]) => [type, { schema: { type: 'string', description } }])
  return { ...responses, [status]: { ...usual, content: { ...usual.content, ...Object.fromEntries(more) } } }
}

function interceptedHeaders({ interceptors }: Route): Readonly<Record<string, string>> {
  return Object.assign({}, ...interceptors.map(({ documents }) => documents?.responseHeaders))
}

function withHeaders(responses: ResponsesObject, added: Readonly<Record<string, string>>): ResponsesObject {
  if (Object.keys(added).length === 0) return responses
  const more = describedHeaders(added)
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]: [string, ResponseObject]) => [
      status,
      { ...response, headers: { ...response.headers, ...more } },
    ]),
  )
}

function successesOf(route: Route, writer: SchemaWriter): ResponsesObject {
  const others = [...route.others].map(([status, { description, shape }]) => [
    status,
    shape
      ? { description, content: jsonContent(writer.write(shape, 'output'), route.options.produces) }
      : { description },
  ])
  return { ...usualOf(route, writer), ...Object.fromEntries(others) }
}

/** The shape of the usual response, if its schema is written. */
function writtenResponse({ response, status, options: { produces } }: Route): Shape | undefined {
  return hasBody(status) && (produces === undefined || isJson(produces)) ? response : undefined
}

/** Whether it answers `If-None-Match` by the ETag of its response. */
export function hasEntityTag(route: Route): boolean {
  const shape = writtenResponse(route)
  return route.method === 'GET' && route.status === 200 && shape?.kind === 'object' && shape.versionOf !== undefined
}

/** Whether it may send files by their paths, and so answer `Range` and conditional requests. */
function sendsFiles({ method, status, options: { produces } }: Route): boolean {
  return method === 'GET' && status === 200 && produces !== undefined && !isJson(produces)
}

function partsOf(produces: string): ResponsesObject {
  return {
    206: { description: 'The part of the file that the header Range requests', content: { [produces]: {} } },
    304: { description: 'The file has not changed' },
  }
}

function usualOf(route: Route, writer: SchemaWriter): ResponsesObject {
  const { response, status, emptyStatus } = route
  const { produces } = route.options
  if (!hasBody(status)) return { [status]: DONE }
  if (status >= 300 && !response) return { [status]: REDIRECT }
  if (produces !== undefined && !isJson(produces))
    return {
      [status]: { description: 'Success', content: { [produces]: {} } },
      ...(sendsFiles(route) ? partsOf(produces) : {}),
    }
  if (route.stream && response) return { [status]: streamOf(route.stream, writer.write(response, 'output')) }
  if (route.sendsEvents && response) return { [status]: eventsOf(writer.write(response, 'output')) }
  const written = writtenResponse(route)
  return written
    ? {
        [status]: {
          description: 'Success',
          ...headersOf(written),
          content: jsonContent(writer.write(written, 'output'), produces),
        },
        ...(hasEntityTag(route) ? notModified(written) : {}),
      }
    : { [emptyStatus]: DONE, [status]: { description: 'Success', content: jsonContent({}, produces) } }
}

function notModified(shape: Shape): ResponsesObject {
  const { ETag } = headersOf(shape).headers ?? {}
  return { 304: { description: 'It still has an entity tag of If-None-Match', ...(ETag ? { headers: { ETag } } : {}) } }
}

function headersOf(shape: Shape): Pick<ResponseObject, 'headers'> {
  if (shape.kind !== 'object' || !shape.headers) return {}
  return { headers: describedHeaders(shape.headers) }
}

function describedHeaders(descriptions: Readonly<Record<string, string>>): HeadersObject {
  const headers = Object.entries(descriptions).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' as const } },
  ])
  return Object.fromEntries(headers) as HeadersObject
}

function streamOf({ media, description }: ItemStream, item: JsonSchema): ResponseObject {
  const text = { schema: { type: 'string' as const }, 'x-item': item }
  const content = Object.entries(media).map(([type, has]) => [
    type,
    has === 'array' ? { schema: schemaObject({ type: 'array', items: item }) } : text,
  ])
  return { description, content: Object.fromEntries(content) }
}

// OpenAPI 3.1 has no schema for the items of a stream. Generators of clients read the schema as that of the data of an event.
function eventsOf(data: JsonSchema): ResponseObject {
  const description = 'Server-sent events; the data of each is JSON with this schema, which is also x-event-data'
  return { description, content: { 'text/event-stream': { schema: schemaObject(data), 'x-event-data': data } } }
}

const DONE: ResponseObject = { description: 'Done' }

const REDIRECT: ResponseObject = {
  description: 'Redirect',
  headers: { Location: { schema: { type: 'string', format: 'uri-reference' } } },
}

function problemsOf(
  route: Route,
  constrainedInModels: () => readonly string[],
  response: DocumentedProblems['response'],
): ResponsesObject {
  const { plan, options } = route
  const statuses: Readonly<Record<string, string>> = {
    ...expectedProblems(route, constrainedInModels),
    ...options.errors,
  }
  const isRefused = Object.keys(statuses).some((status) => status.startsWith('4'))
  const refusedHeaders = headersOfErrors(route)
  const described = Object.entries(statuses).map(([status, text]): [string, ResponseObject] => {
    // The declared description is usually the message that the handler throws.
    const detail = options.errors?.[Number(status)] ?? `${text}.`
    const headers = refusedHeaders[status]
    const documented = response(text, exampleProblem(Number(status), detail, plan.inputs))
    return [status, headers ? { ...documented, headers: describedHeaders(headers) } : documented]
  })
  return {
    ...Object.fromEntries(described),
    // Middleware or an HttpError may refuse any request, with a status that is not known here.
    ...(isRefused ? {} : { '4XX': response('The request is refused') }),
    default: response('Any other error', otherProblem),
  }
}

function headersOfErrors({ plan, interceptors }: Route): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const refused = [
    ...plan.steps.map(({ token }) => refusalsOf(token)),
    ...interceptors.map(({ documents }) => documents?.refusals),
  ]
  return Object.assign({}, ...refused.map(headersOfRefusals))
}

/** With those of the interceptors, which may have the statuses of others. */
function expectedProblems(
  route: Route,
  constrainedInModels: () => readonly string[],
): Readonly<Record<number, string>> {
  const problems = usualProblems(route, constrainedInModels)
  for (const { documents } of route.interceptors)
    for (const [status, text] of Object.entries(descriptionsOf(documents?.refusals))) {
      const other = problems[Number(status)]
      problems[Number(status)] = other === undefined ? text : `${other}. Or: ${text}`
    }
  return problems
}

function usualProblems(route: Route, constrainedInModels: () => readonly string[]): Record<number, string> {
  const { plan } = route
  const { inputs } = plan
  const body = inputs.find((input) => input.kind === 'body')
  const isSecured = schemesOf(plan).length > 0
  return {
    // A header cannot be the reason: Node refuses an invalid header before there is a request. Any header can be read as cookies.
    ...(inputs.some((input) => input.in !== 'header' && input.in !== 'cookie')
      ? { 400: 'The request cannot be read' }
      : {}),
    ...(isSecured ? { 401: 'Authentication is missing or invalid' } : {}),
    ...Object.assign({}, ...plan.steps.map(({ token }) => descriptionsOf(refusalsOf(token)))),
    ...(plan.steps.some(({ token }) => guardOf(token)) ? { 403: 'The request is not allowed' } : {}),
    ...(mayConflict(route, constrainedInModels)
      ? { 409: 'A unique value exists already, or a referenced record does not exist' }
      : {}),
    ...(body
      ? {
          413: 'The body is too large',
          415: `The body is not ${body.media?.mediaType ?? `JSON${body.form ? ' or a form' : ''}`}`,
        }
      : {}),
    ...route.stream?.refusals,
    ...(sendsFiles(route) ? { 416: 'The file does not have the range' } : {}),
    ...(inputs.length > 0 ? { 422: 'The request does not fit its description' } : {}),
    503: 'The service is unavailable; try again later',
  }
}

/** A JSON Schema as a schema of OpenAPI 3.1, whose type lists each keyword. */
export function schemaObject(schema: JsonSchema): SchemaObject {
  return schema as SchemaObject // written by SchemaWriter, for OpenAPI 3.1
}

/** The content of a request or response with this schema. */
export function jsonContent(schema: JsonSchema, mediaType = 'application/json') {
  return { [mediaType]: { schema: schemaObject(schema) } }
}

/** How error responses are documented. */
export interface DocumentedProblems {
  readonly components: readonly (readonly [string, JsonSchema])[]
  response(description: string, example?: Problem): ResponseObject
  /** All of a route. */
  of(route: Route): ResponsesObject
}

export function documentedProblems(
  bodies: DocumentedBodies,
  writer: SchemaWriter,
  constrainedInModels: () => readonly string[],
): DocumentedProblems {
  const { shape, mediaType, write } = bodies
  const schema = schemaObject(shape ? writer.write(shape, 'output') : { $ref: `${REFERENCE}Problem` })
  const response = (description: string, example?: Problem): ResponseObject => ({
    description,
    content: { [mediaType]: { schema, ...(example ? { example: JSON.parse(write(example)) as unknown } : {}) } },
  })
  return {
    components: shape ? [] : PROBLEM_COMPONENTS,
    response,
    of: (route) => problemsOf(route, constrainedInModels, response),
  }
}

const REFERENCE = '#/components/schemas/'

/** The components that every OpenAPI document has. */
export const PROBLEM_COMPONENTS: readonly [string, JsonSchema][] = [
  [
    'Problem',
    {
      type: 'object',
      description: 'An error, as defined by RFC 9457.',
      properties: {
        type: { type: 'string', format: 'uri-reference' },
        title: { type: 'string', description: 'The status in words.' },
        status: { type: 'integer', minimum: 400, maximum: 599 },
        detail: { type: 'string', description: 'The error in words, for people.' },
        instance: {
          type: 'string',
          format: 'uri-reference',
          description: 'The id of the request; only with a status of 500 or above.',
        },
        errors: {
          type: 'array',
          items: { $ref: `${REFERENCE}InputIssue` },
          description: 'All issues of the inputs.',
        },
      },
      required: ['type', 'title', 'status'],
    },
  ],
  [
    'InputIssue',
    {
      type: 'object',
      description: 'What is wrong with one input.',
      properties: {
        in: { type: 'string', enum: ['path', 'query', 'header', 'cookie', 'body'] },
        path: { type: 'string', description: 'A JSON Pointer to the value.' },
        message: { type: 'string' },
      },
      required: ['in', 'path', 'message'],
    },
  ],
]

const INSTANCE = 'urn:request:0b8a3f6e-54c2-4d0f-9a57-2f1c6d3e8b90'

/** An example of the problem with this status, for the documentation. */
function exampleProblem(status: number, detail: string, inputs: readonly Input[]): Problem {
  const errors = status === 422 ? inputs.flatMap(exampleIssue).slice(0, 1) : []
  return toProblem({ status, detail, errors }, status >= 500 ? INSTANCE : undefined)
}

/** An example of any other problem. */
const otherProblem: Problem = toProblem(UNKNOWN, INSTANCE)

// The most likely mistake in this input; none when no mistake is typical.
function exampleIssue(input: Input): InputIssue[] {
  switch (input.kind) {
    case 'body':
      return propertyIssue(input.in, input.property)
    case 'group':
      return propertiesOf(input.shape, 'input')
        .flatMap(([name, property]) => valueIssue(input.in, name, property))
        .slice(0, 1)
    case 'value':
      return valueIssue(input.in, input.name, input.property)
  }
}

function propertyIssue(location: 'body', { shape }: Property): InputIssue[] {
  const [object, path] = shape.kind === 'array' ? [shape.items, '/0'] : [shape, '']
  if (object.kind !== 'object') return []
  const required = propertiesOf(object, 'input').find(([, property]) => !isOmissible(property, 'input'))
  return required ? [{ in: location, path: `${path}/${required[0]}`, message: 'is required' }] : []
}

function valueIssue(location: InputIssue['in'], name: string, property: Property): InputIssue[] {
  const { shape } = property
  const path = `/${name}`
  if (shape.nullable) return []
  if (shape.kind === 'integer') return [{ in: location, path, message: 'must be an integer' }]
  if (shape.kind === 'number') return [{ in: location, path, message: 'must be a number' }]
  return isOmissible(property, 'input') || location === 'path' ? [] : [{ in: location, path, message: 'is required' }]
}
