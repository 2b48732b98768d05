import { DatabaseStartError } from '../../../db/errors.js'
import type { TableDefinition } from '../table-definition.js'

export function creationError({ name, models }: TableDefinition, cause: unknown): DatabaseStartError {
  const names = models.map((model) => model.name).join(', ')
  return new DatabaseStartError(`Cannot create the table ${name.name} of ${names}: ${messageOf(cause)}`, { cause })
}

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
