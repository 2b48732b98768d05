import type { ContentObject, OperationObject, ParameterObject, RequestBodyObject } from 'openapi3-ts/oas31'
import { defined } from '../../core/records.js'
import { defaultAsJson, type SchemaWriter } from '../../schema/json-schema/writer.js'
import { type JsonSchema, isOmissible, type Property, type Shape } from '../../schema/shape/shape.js'
import { FORM } from '../input/read-strings.js'
import { type Input, sentValues } from '../input/parameters.js'
import { paginationExtensions } from './pagination.js'
import { type DocumentedProblems, hasEntityTag, jsonContent, responsesOf, schemaObject } from './responses.js'
import type { Segment } from '../routing/path.js'
import type { DocumentedHeader } from '../routing/interceptor.js'
import type { Route } from '../routing/route.js'
import { type NamedScheme, requirementsOf, schemesOf } from '../routing/security.js'

/** The OpenAPI operation of a route. Its variables have the names in `path`: routes that differ only in these names share one path. */
export function operationOf(
  route: Route,
  path: readonly Segment[],
  writer: SchemaWriter,
  problems: DocumentedProblems,
): OperationObject & { readonly operationId: string } {
  const { inputs } = route.plan
  const schemes = schemesOf(route.plan)
  const { summary, description, deprecated, externalDocs, extensions } = route.options
  const body = inputs.find((input) => input.kind === 'body')
  const own = inputs.flatMap((input) => parametersOf(input, writer))
  const intercepted = route.interceptors.flatMap(({ documents }) => documents?.headers ?? []).map(headerOf)
  const all = uniqueParameters([...own, ...intercepted, ...(hasEntityTag(route) ? [IF_NONE_MATCH] : [])])
  const parameters = all
    .filter((parameter) => !isDocumentedElsewhere(parameter, schemes))
    .map((parameter) => renamed(parameter, route.segments, path))
  return {
    operationId: operationIdOf(route),
    tags: [...route.tags],
    summary: summary ?? defaultSummary(route),
    ...defined({ description, deprecated, externalDocs }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: requestBodyOf(body, writer) } : {}),
    responses: responsesOf(route, writer, problems),
    // A request must satisfy all schemes of one of these objects.
    ...(schemes.length > 0 ? { security: [...requirementsOf(route.plan)] } : {}),
    ...paginationExtensions(route),
    ...extensions,
  }
}

function headerOf({ name, description, required, maxLength, generated }: DocumentedHeader): ParameterObject {
  const schema = { type: 'string' as const, ...(maxLength === undefined ? {} : { minLength: 1, maxLength }) }
  return { name, in: 'header', required, description, schema, ...(generated ? { 'x-generated': true } : {}) }
}

const IF_NONE_MATCH: ParameterObject = {
  name: 'if-none-match',
  in: 'header',
  required: false,
  description: 'The ETag of a response that the client has kept: if it is still the same, the response is a 304.',
  schema: { type: 'string' },
}

type BodyInput = Extract<Input, { kind: 'body' }>

function requestBodyOf(body: BodyInput, writer: SchemaWriter): RequestBodyObject {
  const { shape, optional } = body.property
  return { required: !optional, content: contentOf(writer.write(shape, 'input'), body) }
}

function contentOf(schema: JsonSchema, { form, media }: BodyInput): ContentObject {
  if (!media) return { ...jsonContent(schema), ...(form ? jsonContent(schema, FORM) : {}) }
  const { mediaType, encoding } = media
  const isEncoded = Object.keys(encoding).length > 0
  return { [mediaType]: { schema: schemaObject(schema), ...(isEncoded ? { encoding } : {}) } }
}

function renamed(parameter: ParameterObject, from: readonly Segment[], to: readonly Segment[]): ParameterObject {
  if (parameter.in !== 'path') return parameter
  const segment = to[from.findIndex((one) => one.kind !== 'fixed' && one.name === parameter.name)]
  return segment && segment.kind !== 'fixed' ? { ...parameter, name: segment.name } : parameter
}

const NOT_AS_PARAMETERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])

// OpenAPI documents these headers as media types and security schemes.
function isDocumentedElsewhere(parameter: ParameterObject, schemes: readonly NamedScheme[]): boolean {
  const name = parameter.name.toLowerCase()
  if (parameter.in === 'header' && NOT_AS_PARAMETERS.has(name)) return true
  return schemes.some(({ scheme }) => scheme.in === parameter.in && scheme.name?.toLowerCase() === name)
}

/** The name of the operation, which no other one may have. */
function operationIdOf(route: Pick<Route, 'options' | 'controller' | 'member'>): string {
  return route.options.operationId ?? defaultId(route)
}

const SAFE = /^[\w.$-]*$/

// HeroController.list -> heroList
function defaultId({ controller, member }: Pick<Route, 'controller' | 'member'>): string {
  const group = controller.name.replace(/Controller$/, '') || controller.name
  const id = `${group[0]?.toLowerCase()}${group.slice(1)}${member[0]?.toUpperCase()}${member.slice(1)}`
  return SAFE.test(id) ? id : id.replaceAll(/[^\w.$-]/gu, '_') // tools use it in URLs and as a function name
}

// listByName -> List by name; the tag names the resource.
function defaultSummary({ member }: Route): string {
  const words = member.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?[^\p{Lu}_$\s]+/gu) ?? [member]
  const sentence = words.map((word) => (/^\p{Lu}{2}/u.test(word) ? word : word.toLowerCase())).join(' ')
  return `${sentence[0]?.toUpperCase()}${sentence.slice(1)}`
}

function parametersOf(input: Input, writer: SchemaWriter): ParameterObject[] {
  if (input.kind === 'body') return []
  return sentValues(input).map(([name, property]) => parameterOf(input.in, name, property, writer))
}

// ?age[from]=20&age[to]=30
const DEEP = { style: 'deepObject', explode: true } as const

// ?sort=-age,name
const COMMAS = { style: 'form', explode: false } as const

function styleOf(shape: Shape): Pick<ParameterObject, 'style' | 'explode'> {
  if (shape.kind === 'object') return DEEP
  return shape.kind === 'array' && shape.commas ? COMMAS : {}
}

function parameterOf(
  location: 'path' | 'query' | 'header' | 'cookie',
  name: string,
  property: Property,
  writer: SchemaWriter,
): ParameterObject {
  const { description, deprecated, ...schema } = writer.write(property.shape, 'input')
  return {
    name,
    in: location,
    required: location === 'path' || property.demanded === true || !isOmissible(property, 'input'),
    ...styleOf(property.shape),
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof deprecated === 'boolean' ? { deprecated } : {}),
    schema: schemaObject({ ...schema, ...defined({ default: defaultAsJson(property) }) }),
  }
}

// Two services that a handler injects may read the same header, which is required if one of them requires it.
function uniqueParameters(parameters: readonly ParameterObject[]): ParameterObject[] {
  const unique = new Map<string, ParameterObject>()
  for (const parameter of parameters) {
    const key = `${parameter.in} ${parameter.name}`
    unique.set(key, unique.get(key)?.required ? { ...parameter, required: true } : parameter)
  }
  return [...unique.values()]
}
