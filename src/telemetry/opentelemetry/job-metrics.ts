import type { Histogram, Meter } from '@opentelemetry/api'
import type { JobRun } from '../../core/events/job-run.js'
import { errorClass, JOB_BUCKETS } from '../labels.js'
import { jobAttributes } from './attributes.js'
import { hasFailed } from './job-spans.js'

/** The metrics of jobs. */
export class JobMetrics {
  readonly #durations: Histogram

  constructor(meter: Meter) {
    this.#durations = meter.createHistogram('messaging.process.duration', {
      description: 'Duration of processing operation.',
      unit: 's',
      advice: { explicitBucketBoundaries: JOB_BUCKETS },
    })
  }

  end(job: JobRun): void {
    this.#durations.record(job.milliseconds / 1000, {
      ...jobAttributes(job),
      'sequitur.job.outcome': job.outcome ?? 'unknown',
      ...(hasFailed(job) ? { 'error.type': errorClass(job.error) } : {}),
    })
  }
}
