import { BootError } from '../../core/boot-error.js'
import { SchemaWriter } from '../../schema/json-schema/writer.js'
import { type JsonSchema, propertiesOf, type Shape } from '../../schema/shape/shape.js'
import { headerName, type Input } from './parameters.js'

type StringLocation = 'path' | 'query' | 'header' | 'cookie'

/** A string of the request that an input reads. */
interface Read {
  readonly input: Exclude<Input, { kind: 'body' }>
  /** The property of the class that the input is, if it is one. */
  readonly property: string | undefined
  readonly shape: Shape
}

/**
 * Refuses inputs that read one name with different schemas: OpenAPI documents one of them, and a value may fit only one.
 *
 * @throws BootError with both places.
 */
export function refuseClashingInputs(route: string, inputs: readonly Input[]): void {
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

const PLACES: Readonly<Record<StringLocation, string>> = {
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
