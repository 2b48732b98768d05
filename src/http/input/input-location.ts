import type { FieldIssue } from '../../core/error-status.js'
import { escapePointer } from '../../schema/shape/issue.js'
import { propertiesOf, type Shape } from '../../schema/shape/shape.js'
import { standardSchemaProperties } from '../../schema/input/parse-string.js'
import type { InputIssue } from '../errors.js'
import { headerName, type Input } from './parameters.js'

/**
 * Finds the inputs that have the names of these fields. Fields without an input are left out: the client did not send them, and their names
 * are internal.
 */
export function locateIssues(issues: readonly FieldIssue[], inputs: readonly Input[]): readonly InputIssue[] {
  const ordered = inputs.toSorted((a, b) => Number(b.kind === 'body') - Number(a.kind === 'body'))
  return issues.flatMap((issue) => ordered.map((input) => locateIn(input, issue)).find((located) => located) ?? [])
}

function locateIn(input: Input, { field, message }: FieldIssue): InputIssue | undefined {
  const { in: location } = input
  if (field === undefined) return input.kind === 'body' ? { in: location, path: '', message } : undefined
  const path = `/${escapePointer(field)}`
  switch (input.kind) {
    case 'value':
      return input.name === field ? { in: location, path, message } : undefined
    case 'group': {
      const named = propertiesOf(input.shape, 'input').some(([name]) => name === field)
      return named ? { in: location, path: location === 'header' ? `/${headerName(field)}` : path, message } : undefined
    }
    case 'body': {
      const { shape } = input.property
      if (hasProperty(shape, field)) return { in: location, path, message }
      // Which item of the list is wrong is not known.
      const inList = shape.kind === 'array' && hasProperty(shape.items, field)
      return inList ? { in: location, path: '', message: `${field} ${message}` } : undefined
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
