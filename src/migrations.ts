export { sql } from './db/statements/statement.js'
export { MigrationError } from './migrations/run/errors.js'
export {
  baseline,
  migrate,
  type MigrateOptions,
  type MigrateResult,
  type MigrationStatus,
  migrationStatus,
} from './migrations/run/migrate.js'
export type { TableName } from './db/catalog/catalog.js'
export type { AloneStep, BatchesStep, CommitStep, Migration, RunStep, SqlStep, Step } from './migrations/steps/step.js'
export { type AloneOptions, steps } from './migrations/steps/steps.js'
export { Renamed } from './migrations/renamed.js'
