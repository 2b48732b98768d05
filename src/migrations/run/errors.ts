import { StartupError } from '../../core/startup-error.js'

/**
 * Migrations cannot be run: a step has failed, a file that was applied has changed or is missing, or is written for another database. The message names the file,
 * and what remains done.
 */
export class MigrationError extends StartupError {
  override name = 'MigrationError'
}
