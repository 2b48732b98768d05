import type { TransactionDescription } from '../../di/route-facts.js'
import { isOmissible, propertiesOf, type Shape } from '../../schema/shape/shape.js'
import { headerName, type Input } from '../input/parameters.js'
import type { InputLocation } from '../input/parameter-type.js'
import type { Lifespan } from '../lifespan.js'
import { joinPath, type Segment } from './path.js'
import { factsOf, type Route, transactionsOf } from './route.js'

/** A route as the command line lists it. */
export interface RouteDescription {
  readonly method: string
  /** As the program writes it: `/heros/:hero_id`. */
  readonly path: string
  /** `HeroController.get` */
  readonly handler: string
  readonly inputs: readonly InputDescription[]
  /** One for each database in which the handler has a transaction. */
  readonly transactions: readonly TransactionDescription[]
}

export interface InputDescription {
  readonly in: InputLocation
  /** The name of the input; of a body, the name of its type. */
  readonly name: string
  readonly optional: boolean
}

export function describeRoute(route: Route, lifespans: readonly Lifespan[]): RouteDescription {
  const facts = factsOf(route)
  return {
    method: route.method,
    path: joinPath(...route.segments.map(textOf)),
    handler: route.name,
    inputs: route.plan.inputs.flatMap(describeInput),
    transactions: transactionsOf(facts, lifespans),
  }
}

function textOf(segment: Segment): string {
  switch (segment.kind) {
    case 'fixed':
      return segment.text
    case 'variable':
      return `:${segment.name}`
    case 'tail':
      return `*${segment.name}`
  }
}

function describeInput(input: Input): InputDescription[] {
  switch (input.kind) {
    case 'value':
      return [{ in: input.in, name: input.name, optional: isOmissible(input.property, 'input') }]
    case 'group':
      return propertiesOf(input.shape, 'input').map(([name, property]) => ({
        in: input.in,
        name: input.in === 'header' ? headerName(name) : name,
        optional: isOmissible(property, 'input'),
      }))
    case 'body':
      return [{ in: 'body', name: typeName(input.property.shape), optional: isOmissible(input.property, 'input') }]
  }
}

function typeName(shape: Shape): string {
  if (shape.kind === 'array') return `${typeName(shape.items)}[]`
  if (shape.kind === 'map') return `map of ${typeName(shape.values)}`
  if (shape.kind === 'object' && !shape.anonymous) return shape.name
  return (shape.kind === 'union' && shape.named?.name) || shape.kind
}
