import { isOmissible, propertiesOf, type Property } from '../../schema/shape/shape.js'
import type { InputIssue } from '../errors.js'
import type { Input } from '../input/parameters.js'
import { type Problem, toProblem, UNKNOWN } from '../problem.js'

const INSTANCE = 'urn:request:0b8a3f6e-54c2-4d0f-9a57-2f1c6d3e8b90'

/** An example of the problem with this status, for the documentation. */
export function exampleProblem(status: number, detail: string, inputs: readonly Input[]): Problem {
  const errors = status === 422 ? inputs.flatMap(exampleIssue).slice(0, 1) : []
  return toProblem({ status, detail, errors }, status >= 500 ? INSTANCE : undefined)
}

/** An example of any other problem. */
export const otherProblem: Problem = toProblem(UNKNOWN, INSTANCE)

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
