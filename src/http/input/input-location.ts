import type { FieldIssue } from '../../core/error-status.js'
import { escapePointer } from '../../schema/shape/issue.js'
import { propertiesOf, type Shape } from '../../schema/shape/shape.js'
import { standardSchemaProperties } from '../../schema/input/parse-string.js'
import type { InputIssue } from '../errors.js'
import { headerName, type Input } from './parameters.js'

/**
 * The issues with values that came by an input of the same name, at their places. Of others a client is told nothing: it could not
 * change them, and their names are the program's.
 */
export function placeIssues(issues: readonly FieldIssue[], inputs: readonly Input[]): readonly InputIssue[] {
  const ordered = inputs.toSorted((a, b) => Number(b.kind === 'body') - Number(a.kind === 'body'))
  return issues.flatMap((issue) => ordered.map((input) => placeIn(input, issue)).find((placed) => placed) ?? [])
}

function placeIn(input: Input, { field, message }: FieldIssue): InputIssue | undefined {
  const { in: place } = input
  if (field === undefined) return input.kind === 'body' ? { in: place, path: '', message } : undefined
  const path = `/${escapePointer(field)}`
  switch (input.kind) {
    case 'value':
      return input.name === field ? { in: place, path, message } : undefined
    case 'group': {
      const named = propertiesOf(input.shape, 'input').some(([name]) => name === field)
      return named ? { in: place, path: place === 'header' ? `/${headerName(field)}` : path, message } : undefined
    }
    case 'body': {
      const { shape } = input.property
      if (hasProperty(shape, field)) return { in: place, path, message }
      // Which of the list it was is not known.
      const inList = shape.kind === 'array' && hasProperty(shape.items, field)
      return inList ? { in: place, path: '', message: `${field} ${message}` } : undefined
    }
  }
}

function hasProperty(shape: Shape, field: string): boolean {
  switch (shape.kind) {
    case 'object':
      return propertiesOf(shape, 'input').some(([name]) => name === field)
    case 'union':
      return [...shape.options().values()].some((option) => hasProperty(option, field))
    case 'standard':
      return standardSchemaProperties(shape.schema)?.has(field) ?? false
    default:
      return false
  }
}
