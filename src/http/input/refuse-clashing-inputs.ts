import { BootError } from '../../core/boot-error.js'
import { SchemaWriter } from '../../schema/json-schema/writer.js'
import { type JsonSchema, propertiesOf, type Shape } from '../../schema/shape/shape.js'
import { headerName, type Input } from './parameters.js'

/** A string of the request that an input reads. */
interface Read {
  readonly in: 'path' | 'query' | 'header'
  readonly name: string
  readonly shape: Shape
  readonly where: string
}

/**
 * Refuses inputs that read one name with different schemas: OpenAPI documents one of them, and a value may fit only one.
 *
 * @throws BootError with both places.
 */
export function refuseClashingInputs(route: string, inputs: readonly Input[]): void {
  const known = new Map<string, Read>()
  for (const read of inputs.flatMap(readsOf)) {
    const key = `${read.in} ${read.name}`
    const first = known.get(key)
    if (first) refuseDifferentSchemas(route, first, read)
    else known.set(key, read)
  }
}

function readsOf(input: Input): readonly Read[] {
  switch (input.kind) {
    case 'body':
      return []
    case 'value':
      return [{ in: input.in, name: input.name, shape: input.property.shape, where: input.where }]
    case 'group':
      return propertiesOf(input.shape, 'input').map(([name, { shape }]) => ({
        in: input.in,
        name: input.in === 'header' ? headerName(name) : name,
        shape,
        where: `${input.where}, property '${name}'`,
      }))
  }
}

function refuseDifferentSchemas(route: string, first: Read, second: Read): void {
  const writer = new SchemaWriter()
  const [one, other] = [first, second].map(({ shape }) => JSON.stringify(constraintsOf(writer.write(shape, 'input'))))
  if (one === other) return
  throw new BootError(
    `${route} reads the ${PLACES[first.in]} '${first.name}' twice, with different schemas: ` +
      `${first.where} as ${one}, ${second.where} as ${other}. Write the same schema for both, or another name for one of them.`,
  )
}

const PLACES = { path: 'path variable', query: 'query parameter', header: 'header' } as const

/** Without what two readers of one value may differ in. */
function constraintsOf(schema: JsonSchema): JsonSchema {
  const { title: _title, description: _description, examples: _examples, deprecated: _deprecated, ...others } = schema
  const { default: _default, ...constraints } = others
  return constraints
}
