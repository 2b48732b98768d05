export { type AddArguments, type AddedJob, type AddOptions, Jobs, jobsOf } from './jobs/jobs.js'
export type { AsJson } from './schema/output/as-json.js'
export { Attempt } from './jobs/attempt.js'
export {
  InvalidJobInput,
  JobTimeout,
  LostLeaseError,
  UnreadableJobInput,
  WorkerLost,
  WorkerStops,
} from './jobs/errors.js'
export { Cron, type CronOptions, Job, type JobOptions } from './jobs/job.js'
export type { JobLimitRule } from './jobs/declaration.js'
export { jobsController, type JobsControllerOptions } from './jobs/operators/jobs-controller.js'
export { createJobTables, dropJobTables } from './jobs/create-tables.js'
export { JobRecord, type JobState } from './jobs/tables.js'
