import { BaseError } from 'sequelize'
import { messageOf } from '../../core/to-error.js'
import { MigrationError } from './errors.js'

/**
 * The error of a step.
 *
 * @param place the file, and the number of the step.
 * @param remaining what remains done, as a sentence.
 * @param text its SQL.
 */
export function stepFailed(place: string, error: unknown, remaining: string, text?: string): MigrationError {
  const lines = text === undefined ? [] : text.split('\n').map((line) => `  ${line.trimEnd()}`)
  return new MigrationError([`${place} has failed: ${reasonOf(error)}`, ...lines, remaining].join('\n'), {
    cause: error,
  })
}

// Sequelize's message of a violated constraint names no table: 'Validation error'.
function reasonOf(error: unknown): string {
  const original = error instanceof BaseError && 'original' in error ? error.original : undefined
  return messageOf(original ?? error)
}
