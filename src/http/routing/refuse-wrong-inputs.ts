import { BootError } from '../../core/boot-error.js'
import { SchemaWriter } from '../../schema/json-schema/writer.js'
import { isOmissible, type JsonSchema, objectsIn, propertiesOf, type Shape } from '../../schema/shape/shape.js'
import { headerName, type Input } from '../input/parameters.js'

/**
 * Refuses a variable of the path that no parameter takes, a second body, and two inputs that read one name with different schemas.
 *
 * @throws BootError with what to write instead.
 */
export function refuseWrongInputs(
  route: string,
  path: string,
  variables: readonly string[],
  inputs: readonly Input[],
): void {
  refuseUnusedVariables(route, path, variables, inputs)
  refuseTwoBodies(route, inputs)
  refuseClashingInputs(route, inputs)
}

// Parameter names are read from the source of the function: in minified code they differ, and every request would be a 422.
function refuseUnusedVariables(
  name: string,
  path: string,
  variables: readonly string[],
  inputs: readonly Input[],
): void {
  const taken = inputs.flatMap((input) => (input.kind === 'value' && input.in === 'path' ? [input.name] : []))
  const unused = variables.filter((variable) => !taken.includes(variable))
  if (unused.length === 0) return
  const found = inputs.flatMap((input) => (input.kind === 'value' ? [input.name] : [])).join(', ') || 'none'
  throw new BootError(
    `${name}: no parameter takes the variable ${unused.map((variable) => `:${variable}`).join(', ')} of ${path}; the inputs found are ${found}. ` +
      `Name a parameter like the variable, or write @Path('${unused[0]}'). If the code is minified, keep the parameter names.`,
  )
}

function refuseTwoBodies(name: string, inputs: readonly Input[]): void {
  if (inputs.filter((input) => input.kind === 'body').length > 1) {
    throw new BootError(
      `${name} has two body parameters, but a request has one body. Put both into one class, or put @Query() on one of them.`,
    )
  }
}

/** A string of the request that an input reads. */
interface Read {
  readonly input: Exclude<Input, { kind: 'body' }>
  /** The property of the class that the input is, if it is one. */
  readonly property: string | undefined
  readonly shape: Shape
}

// OpenAPI documents only one of two schemas for one name, and a value may match only one.
function refuseClashingInputs(route: string, inputs: readonly Input[]): void {
  const known = new Map<string, Read>()
  const add = (name: string, read: Read): void => {
    const place = `${read.input.in} ${name}`
    const first = known.get(place)
    if (first) refuseDifferentSchemas(route, name, first, read)
    else known.set(place, read)
  }
  for (const input of inputs) {
    if (input.kind === 'value') add(input.name, { input, property: undefined, shape: input.property.shape })
    if (input.kind === 'group')
      for (const [property, { shape }] of propertiesOf(input.shape, 'input'))
        add(input.in === 'header' ? headerName(property) : property, { input, property, shape })
  }
}

function refuseDifferentSchemas(route: string, name: string, first: Read, second: Read): void {
  const writer = new SchemaWriter()
  const [one, other] = [first, second].map(({ shape }) => JSON.stringify(constraintsOf(writer.write(shape, 'input'))))
  if (one === other) return
  throw new BootError(
    `${route} reads the ${PLACES[first.input.in]} '${name}' twice, with different schemas: ` +
      `${placeOf(first)} as ${one}, ${placeOf(second)} as ${other}. Write the same schema for both, or another name for one of them.`,
  )
}

function placeOf({ input, property }: Read): string {
  return property === undefined ? input.where : `${input.where}, property '${property}'`
}

const PLACES: Readonly<Record<Read['input']['in'], string>> = {
  path: 'path variable',
  query: 'query parameter',
  header: 'header',
  cookie: 'cookie',
}

/** Without what two readers of one value may differ in. */
function constraintsOf(schema: JsonSchema): JsonSchema {
  const { title: _title, description: _description, examples: _examples, deprecated: _deprecated, ...others } = schema
  const { default: _default, ...constraints } = others
  return constraints
}

/**
 * Refuses a response that requires properties which a client may leave out of its records.
 *
 * @throws BootError with their names.
 */
export function refuseRequiredFields(route: string, inputs: readonly Input[], response: Shape | undefined): void {
  for (const input of inputs) {
    if (input.kind !== 'group') continue
    const omitted = input.shape.inQuery?.mayOmit?.() ?? []
    const required = omitted.length > 0 && response ? requiredIn(response).filter((name) => omitted.includes(name)) : []
    if (required.length === 0) continue
    throw new BootError(
      `${route}: clients of ${input.where} may leave out ${required.join(', ')}, which the response requires. ` +
        `Make them optional in it: class HeroRow extends dto(Hero, { ..., partial: true }) {}.`,
    )
  }
}

/** The properties that records of a response must have: of the items of its lists. */
function requiredIn(response: Shape): readonly string[] {
  const lists = [response, ...objectsIn(response).flatMap(partsOf)].filter(({ kind }) => kind === 'array')
  const names = lists
    .flatMap(objectsIn)
    .flatMap((record) => propertiesOf(record, 'output'))
    .flatMap(([name, property]) => (isOmissible(property, 'output') ? [] : name))
  return [...new Set(names)]
}

function partsOf(shape: Parameters<typeof propertiesOf>[0]): readonly Shape[] {
  return propertiesOf(shape, 'output').map(([, property]) => property.shape)
}
