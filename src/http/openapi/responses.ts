import type { ResponseObject, ResponsesObject, SchemaObject } from 'openapi3-ts/oas31'
import type { JsonSchema, Shape } from '../../schema/shape/shape.js'
import type { SchemaWriter } from '../../schema/json-schema/writer.js'
import { mayConflict } from './may-conflict.js'
import type { Problem } from '../problem.js'
import { exampleProblem, otherProblem } from './problem-example.js'
import { hasBody, isJson } from '../output/respond.js'
import type { Route } from '../routing/route.js'
import { schemesOf } from './security.js'

/** The OpenAPI responses of an operation: its declared successes, and the errors that are possible. */
export function responsesOf(
  route: Route,
  writer: SchemaWriter,
  constrainedInModels: () => readonly string[],
): ResponsesObject {
  return { ...successesOf(route, writer), ...problemsOf(route, constrainedInModels) }
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
export function writtenResponse({ response, status, options: { produces } }: Route): Shape | undefined {
  return hasBody(status) && (produces === undefined || isJson(produces)) ? response : undefined
}

function usualOf(route: Route, writer: SchemaWriter): ResponsesObject {
  const { response, status, emptyStatus } = route
  const { produces } = route.options
  if (!hasBody(status)) return { [status]: DONE }
  if (status >= 300 && !response) return { [status]: REDIRECT }
  if (produces !== undefined && !isJson(produces))
    return { [status]: { description: 'Success', content: { [produces]: {} } } }
  const written = writtenResponse(route)
  return written
    ? { [status]: { description: 'Success', content: jsonContent(writer.write(written, 'output'), produces) } }
    : { [emptyStatus]: DONE, [status]: { description: 'Success', content: jsonContent({}, produces) } }
}

const DONE: ResponseObject = { description: 'Done' }

const REDIRECT: ResponseObject = {
  description: 'Redirect',
  headers: { Location: { schema: { type: 'string', format: 'uri-reference' } } },
}

function problemsOf(route: Route, constrainedInModels: () => readonly string[]): ResponsesObject {
  const { plan, options } = route
  const problems: Readonly<Record<string, string>> = {
    ...expectedProblems(route, constrainedInModels),
    ...options.errors,
  }
  const isRefused = Object.keys(problems).some((status) => status.startsWith('4'))
  const described = Object.entries(problems).map(([status, text]): [string, ResponseObject] => {
    // The declared description is usually the message that the handler throws.
    const detail = options.errors?.[Number(status)] ?? `${text}.`
    return [status, problem(text, exampleProblem(Number(status), detail, plan.inputs))]
  })
  return {
    ...Object.fromEntries(described),
    // Middleware or an HttpError may refuse any request, with a status that is not known here.
    ...(isRefused ? {} : { '4XX': problem('The request is refused') }),
    default: problem('Any other error', otherProblem),
  }
}

function expectedProblems(
  route: Route,
  constrainedInModels: () => readonly string[],
): Readonly<Record<number, string>> {
  const { plan } = route
  const { inputs } = plan
  const hasBody = inputs.some((input) => input.kind === 'body')
  const isSecured = schemesOf(plan).length > 0
  return {
    // A header cannot be the reason: Node refuses an invalid header before there is a request.
    ...(inputs.some((input) => input.in !== 'header') ? { 400: 'The request cannot be read' } : {}),
    ...(isSecured ? { 401: 'Authentication is missing or invalid' } : {}),
    ...(mayConflict(route, constrainedInModels)
      ? { 409: 'A unique value exists already, or a referenced record does not exist' }
      : {}),
    ...(hasBody ? { 413: 'The body is too large', 415: 'The body is not JSON' } : {}),
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

function problem(description: string, example?: Problem): ResponseObject {
  const schema = { $ref: `${REFERENCE}Problem` }
  return { description, content: { 'application/problem+json': { schema, ...(example ? { example } : {}) } } }
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
        in: { type: 'string', enum: ['path', 'query', 'header', 'body'] },
        path: { type: 'string', description: 'A JSON Pointer to the value.' },
        message: { type: 'string' },
      },
      required: ['in', 'path', 'message'],
    },
  ],
]
