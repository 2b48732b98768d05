import { messageAt } from '../../schema/input/own-messages.js'
import type { Issue } from '../../schema/shape/issue.js'
import type { Property } from '../../schema/shape/shape.js'
import { InvalidInput, type InputIssue } from '../errors.js'
import type { Input } from './parameters.js'

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
