import type { TransactionDescription } from '../../di/route-facts.js'
import { isOmissible, type Shape } from '../../schema/shape/shape.js'
import { type Input, sentValues } from '../input/parameters.js'
import type { InputLocation } from '../input/parameter-type.js'
import type { Lifespan } from '../lifespan.js'
import { pathPattern } from './path.js'
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
    path: pathPattern(route.segments),
    handler: route.name,
    inputs: route.plan.inputs.flatMap(describeInput),
    transactions: transactionsOf(facts, lifespans),
  }
}

function describeInput(input: Input): InputDescription[] {
  if (input.kind === 'body')
    return [{ in: 'body', name: typeName(input.property.shape), optional: isOmissible(input.property, 'input') }]
  return sentValues(input).map(([name, property]) => ({
    in: input.in,
    name,
    optional: isOmissible(property, 'input') && property.demanded !== true,
  }))
}

function typeName(shape: Shape): string {
  if (shape.kind === 'array') return `${typeName(shape.items)}[]`
  if (shape.kind === 'map') return `map of ${typeName(shape.values)}`
  if (shape.kind === 'object' && !shape.anonymous) return shape.name
  return (shape.kind === 'union' && shape.named?.name) || shape.kind
}
