import type { FieldIssue } from '../../core/error-status.js'
import { escapePointer } from '../../schema/shape/issue.js'
import type { InputIssue } from '../errors.js'
import { propertiesOf } from '../../schema/shape/shape.js'
import { placeInBody } from './body-places.js'
import { headerName, type Input } from './parameters.js'

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
