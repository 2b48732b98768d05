import { escapePointer, unescapePointer } from '../../core/json-pointer.js'
import type { Issue } from '../../schema/shape/issue.js'
import { type Property, propertiesOf, type Shape } from '../../schema/shape/shape.js'
import { InvalidInput, type InputIssue } from '../errors.js'
import { type Input, headerName } from './parameters.js'
import type { FieldIssue } from '../../core/error-status.js'
import { placeInBody } from './body-places.js'

/** An input, and its index among the inputs of its route. */
export interface IndexedInput {
  readonly index: number
  readonly input: Input
}

/** Characters of a path. It has property names that the client chose, and each of a hundred issues may repeat a long one. */
const MAX_PATH_LENGTH = 500

/** The 422 for issues whose paths begin with the index of an input: `/0/age` for the age of the first one. */
export function invalidInputs(issues: readonly Issue[], inputs: readonly IndexedInput[]): InvalidInput {
  const errors = issues.map((issue) => locate(issue, inputs))
  return new InvalidInput('The request does not fit its description.', { errors: withoutRepeated(errors) })
}

function locate({ path, message, ...facts }: Issue, inputs: readonly IndexedInput[]): InputIssue {
  const [, index = '', ...keys] = shortened(path).split('/')
  const rest = keys.map((key) => `/${key}`).join('')
  const { input } = inputs.find((one) => one.index === Number(index)) as IndexedInput // every path starts with the index of an input
  const place = { in: input.in, path: input.kind === 'value' ? `/${input.name}${rest}` : rest }
  const own = messageAt(propertyOf(input), keys)
  return own === undefined ? { ...place, message, ...facts } : { ...place, message: own }
}

function propertyOf(input: Input): Property {
  return input.kind === 'group' ? { shape: input.shape, optional: false } : input.property
}

// Several rules of a property may have its one message.
function withoutRepeated(issues: readonly InputIssue[]): readonly InputIssue[] {
  const known = new Set<string>()
  return issues.filter((issue) => {
    const text = JSON.stringify(issue)
    return !known.has(text) && known.add(text)
  })
}

/** The path, or the longest short enough path of a value that contains it. */
function shortened(path: string): string {
  return path.length <= MAX_PATH_LENGTH ? path : path.slice(0, path.lastIndexOf('/', MAX_PATH_LENGTH))
}

/** The message that a property declares for values that do not match it; undefined if the one at this path, a JSON Pointer's parts, declares none. */
function messageAt({ shape, message }: Property, keys: readonly string[]): string | undefined {
  const [key, ...rest] = keys
  if (key === undefined) return message
  // An item of a list has the message of the list.
  if (shape.kind === 'array')
    return messageAt({ shape: shape.items, optional: false, ...(message === undefined ? {} : { message }) }, rest)
  const property = propertyIn(shape, unescapePointer(key))
  return property && messageAt(property, rest)
}

function propertyIn(shape: Shape, name: string): Property | undefined {
  const objects = shape.kind === 'object' ? [shape] : shape.kind === 'union' ? [...shape.options().values()] : []
  for (const object of objects) {
    const found = propertiesOf(object, 'input').find(([known]) => known === name)
    if (found) return found[1]
  }
  return undefined
}

/**
 * Finds the inputs that have the names of these fields. Fields without an input are left out: the client did not send them, and their names
 * are internal.
 */
export function locateIssues(issues: readonly FieldIssue[], inputs: readonly Input[]): readonly InputIssue[] {
  const ordered = inputs.toSorted((a, b) => Number(b.kind === 'body') - Number(a.kind === 'body'))
  return issues.flatMap((issue) => {
    for (const input of ordered) {
      const found = locateIn(input, issue)
      if (found) return [found]
    }
    return []
  })
}

function locateIn(input: Input, { field, message, rule }: FieldIssue): InputIssue | undefined {
  const kind = rule === undefined ? {} : { rule }
  const { in: location } = input
  if (field === undefined) return input.kind === 'body' ? { in: location, path: '', message, ...kind } : undefined
  const path = `/${escapePointer(field)}`
  switch (input.kind) {
    case 'value':
      return input.name === field ? { in: location, path, message, ...kind } : undefined
    case 'group': {
      const named = propertiesOf(input.shape, 'input').some(([name]) => name === field)
      return named
        ? { in: location, path: location === 'header' ? `/${headerName(field)}` : path, message, ...kind }
        : undefined
    }
    case 'body': {
      const place = placeInBody(input.property.shape, field)
      if (!place) return undefined
      const pointer = place.path.map((name) => `/${escapePointer(name)}`).join('')
      // Which item of a list is wrong is not known, nor which of several objects.
      const namesField = place.isExact || message.startsWith(`${field} `)
      return { in: location, path: pointer, message: namesField ? message : `${field} ${message}`, ...kind }
    }
  }
}
