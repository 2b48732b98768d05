import type {
  ExternalDocumentationObject,
  InfoObject,
  OpenAPIObject,
  PathItemObject,
  ServerObject,
  TagObject,
  OperationObject,
  ResponseObject,
  SchemaObject,
} from 'openapi3-ts/oas31'
import { BootError, withPlace } from '../../core/boot-error.js'
import { memo } from '../../core/memo.js'
import type { Constructor } from '../../di/token.js'
import type { JsonSchema } from '../../schema/shape/shape.js'
import { SchemaWriter } from '../../schema/json-schema/writer.js'
import { controllerOf } from '../routing/controller.js'
import type { Extensions } from '../routing/methods.js'
import type { HealthSettings } from '../health/health-options.js'
import { constrainedIn, mayConflict } from './may-conflict.js'
import { operationOf } from './operation.js'
import { joinPath, openApiPath, parsePath, type Segment } from '../routing/path.js'
import type { DocumentedBodies } from '../error-format.js'
import { programOf } from './program.js'
import {
  type DocumentedProblems,
  documentedProblems,
  PROBLEM_COMPONENTS,
  schemaObject,
  jsonContent,
} from './responses.js'
import type { Route } from '../routing/route.js'
import { sameName, schemesOf, type SecurityScheme } from '../routing/security.js'
import type { HealthBody } from '../health/health.js'

/** The parts of the OpenAPI document that describe the whole API. */
export interface ApiDescription {
  /** Title, version, description, contact, license and others. Default: name and version of the program's package.json. */
  readonly info?: Partial<InfoObject>
  /** The URLs of the API. Default: the URL of the document. */
  readonly servers?: readonly ServerObject[]
  /** Descriptions of the groups of operations, in the order of the documentation. */
  readonly tags?: readonly TagObject[]
  /** A link to more documentation. */
  readonly externalDocs?: ExternalDocumentationObject
  /** Specification extensions of the document: `{ 'x-logo': { url: '...' } }`. */
  readonly extensions?: Extensions
}

interface DocumentOptions extends ApiDescription {
  readonly prefix?: string
  readonly health?: HealthSettings | undefined
  readonly models?: readonly Constructor[]
}

/** Writes the OpenAPI 3.1 document of these routes. @throws BootError as {@link checkOpenApiDocument}. */
export function openApiDocument(
  routes: readonly Route[],
  writer: SchemaWriter,
  options: DocumentOptions,
  bodies: DocumentedBodies,
): OpenAPIObject {
  const constrained = memo(() => constrainedIn(options.models ?? []))
  writeBodies(routes, writer)
  return documentOf(routes, writer, options, documentedProblems(bodies, writer, constrained))
}

/**
 * Finds, when the app is built, what is wrong with its document: writes it without the errors of its routes, which are half of the work. It is discarded: it
 * is as large as the app, and most processes never serve it.
 *
 * @throws BootError when two operations have the same operationId, two security schemes or two classes the same name, a class the name of a
 * component that every document has, and for schemas of other libraries that cannot be documented.
 */
export function checkOpenApiDocument(
  routes: readonly Route[],
  options: DocumentOptions,
  bodies: DocumentedBodies,
): void {
  const writer = new SchemaWriter()
  const constrained = memo(() => constrainedIn(options.models ?? []))
  writeBodies(routes, writer)
  documentOf(routes, writer, options, {
    ...documentedProblems(bodies, writer, constrained),
    of: (route) => {
      mayConflict(route, constrained) // looks at models, whose declarations may be wrong
      return {}
    },
  })
}

function documentOf(
  routes: readonly Route[],
  writer: SchemaWriter,
  { info, servers = HERE, tags, externalDocs, extensions, prefix = '/', health }: DocumentOptions,
  problems: DocumentedProblems,
): OpenAPIObject {
  const paths = { ...Object.fromEntries(pathItems(routes, writer, problems)), ...healthPaths(health, problems) }
  const securitySchemes = Object.fromEntries(securitySchemesOf(routes))
  for (const [name] of PROBLEM_COMPONENTS)
    if (writer.components.has(name))
      throw new BootError(`A class has the name ${name}, which the OpenAPI document uses for errors. Rename the class.`)
  const schemas = [...writer.components, ...problems.components].map(
    ([name, component]) => [name, schemaObject(withExamples(component))] as const,
  )
  return {
    openapi: '3.1.0',
    info: infoOf(info),
    servers: [...servers],
    security: [], // operations that require authentication declare it themselves
    tags: [...allTags(tags, routes, prefix), ...(health?.documented ? [HEALTH_TAG] : [])],
    ...(externalDocs ? { externalDocs } : {}),
    paths,
    ...extensions,
    components: {
      ...(Object.keys(securitySchemes).length > 0 ? { securitySchemes } : {}),
      schemas: Object.fromEntries(schemas),
    },
  }
}

const HERE: readonly ServerObject[] = [{ url: '/' }]

const program = memo(() => programOf(process.argv, () => process.cwd()))

export function infoOf(info: ApiDescription['info']): InfoObject {
  return { ...program(), ...info }
}

function allTags(given: readonly TagObject[] = [], routes: readonly Route[], prefix: string): TagObject[] {
  const paths = new Map<string, Set<string>>()
  for (const { tags, controller } of routes) {
    for (const tag of tags)
      paths.set(tag, (paths.get(tag) ?? new Set()).add(pathOf(prefix, controllerOf(controller).path)))
  }
  const known = new Set(given.map(({ name }) => name))
  const others = [...paths].filter(([name]) => !known.has(name))
  return [...given, ...others.map(([name, all]) => ({ name, description: `Operations of ${[...all].join(', ')}` }))]
}

function pathOf(prefix: string, path: string): string {
  return openApiPath(parsePath(joinPath(prefix, path), 'the path'))
}

// Written first: if the schemas of a class differ between input and output, the input gets the plain name.
function writeBodies(routes: readonly Route[], writer: SchemaWriter): void {
  for (const { name, plan } of routes)
    for (const input of plan.inputs)
      if (input.kind === 'body') withPlace(`${name}, its body`, () => writer.write(input.property.shape, 'input'))
}

function pathItems(
  routes: readonly Route[],
  writer: SchemaWriter,
  problems: DocumentedProblems,
): Map<string, PathItemObject> {
  const paths = new Map<string, PathItemObject>()
  const known = new Map<string, readonly Segment[]>()
  const places = new Map<string, Route>()
  const ids = new Map<string, Route>()
  for (const route of routes) {
    const shape = shapeOfPath(route.segments)
    const segments = known.get(shape) ?? route.segments
    known.set(shape, segments)
    const operation = withPlace(`${route.name}, its response`, () => operationOf(route, segments, writer, problems))
    refuseSecond(places, `${route.method} ${openApiPath(route.segments)}`, route, samePath)
    refuseSecond(ids, operation.operationId, route, sameId)
    const path = openApiPath(segments)
    paths.set(path, { ...paths.get(path), [route.method.toLowerCase()]: operation })
  }
  return paths
}

function refuseSecond(
  known: Map<string, Route>,
  key: string,
  route: Route,
  messageOf: (route: Route, other: Route, key: string) => string,
): void {
  const other = known.get(key)
  if (other) throw new BootError(messageOf(route, other, key))
  known.set(key, route)
}

// OpenAPI has no tails: '/files/:name' and '/files/*name' are both '/files/{name}'.
function samePath({ name }: Route, other: Route, path: string): string {
  return `${name} and ${other.name} are both ${path} in the OpenAPI document. Rename the variable of one of them.`
}

function sameId({ name }: Route, other: Route, id: string): string {
  return `${name} and ${other.name} have the same operationId '${id}'. Rename a controller, or write { operationId: '...' } for one.`
}

// For OpenAPI '/{id}' and '/{key}' are the same path, which may occur only once.
function shapeOfPath(segments: readonly Segment[]): string {
  return JSON.stringify(segments.map((segment) => (segment.kind === 'fixed' ? segment.text : { kind: segment.kind })))
}

function securitySchemesOf(routes: readonly Route[]): Map<string, SecurityScheme> {
  const schemes = new Map<string, SecurityScheme>()
  for (const { name, scheme } of routes.flatMap(({ plan }) => schemesOf(plan))) {
    if ((schemes.get(name) ?? scheme) !== scheme) throw sameName('Two security schemes', name)
    schemes.set(name, scheme)
  }
  return schemes
}

// Without an example, Swagger UI displays the minimum: for a column of 32 bits -2147483648, even for an id or an age.
function withExamples(component: JsonSchema): JsonSchema {
  // In a JSON Schema this keyword has no other type.
  const properties = component['properties'] as Readonly<Record<string, JsonSchema>> | undefined
  if (!properties) return component
  const withExample = Object.entries(properties).map(([name, schema]) => [
    name,
    hasNegativeMinimum(schema) ? { ...schema, examples: [1] } : schema,
  ])
  return { ...component, properties: Object.fromEntries(withExample) }
}

function hasNegativeMinimum({ type, minimum, maximum, examples, default: byDefault }: JsonSchema): boolean {
  const isInteger = [type].flat().includes('integer')
  return isInteger && examples === undefined && byDefault === undefined && Number(minimum) < 0 && Number(maximum) >= 1
}

const HEALTH_TAG = { name: 'Health', description: 'Whether the process serves, and whether it takes requests' }

/** The paths of the health checks, if they are documented. */
function healthPaths(
  settings: HealthSettings | undefined,
  problems: DocumentedProblems,
): Readonly<Record<string, PathItemObject>> {
  if (!settings?.documented) return {}
  const live = operation('livez', 'Whether the process serves', problems, {
    200: health('The process serves', ['ok']),
  })
  const ready = operation('readyz', 'Whether the app takes requests', problems, {
    200: health('The app takes requests', ['ok'], settings.keys),
    503: health(
      'The app is closing, or something that it needs cannot be reached',
      ['unavailable', 'closing'],
      settings.keys,
    ),
  })
  return { [settings.livez]: { get: live }, [settings.readyz]: { get: ready } }
}

function operation(
  operationId: string,
  summary: string,
  { response }: DocumentedProblems,
  responses: Readonly<Record<number, ResponseObject>>,
): OperationObject {
  return {
    operationId,
    tags: [HEALTH_TAG.name],
    summary,
    responses: { ...responses, '4XX': response('The request is refused'), default: response('Any other error') },
  }
}

const USED_KEYS: SchemaObject = {
  type: 'object',
  description: 'How many of its keys each table has used, by the name of the database.',
  additionalProperties: { type: 'object', additionalProperties: { type: 'number', minimum: 0, maximum: 1 } },
}

function health(description: string, statuses: readonly HealthBody['status'][], hasKeys = false): ResponseObject {
  return {
    description,
    content: jsonContent({
      type: 'object',
      properties: {
        status: { type: 'string', enum: statuses },
        checks: {
          type: 'object',
          description: 'The result of each check, by the name of the database or the check.',
          additionalProperties: { type: 'string', enum: ['ok', 'failed'] },
        },
        ...(hasKeys ? { keys: USED_KEYS } : {}),
      },
      required: ['status'],
    }),
  }
}
