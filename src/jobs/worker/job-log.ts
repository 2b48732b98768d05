import type { JobRun } from '../../core/events/job-run.js'
import { rounded, tagOf, traceFields } from '../../http/observation/log-entry.js'
import type { Subject } from '../../http/observation/plan-log.js'
import { describeWork, RecordLog, workFields } from '../../http/observation/record-log.js'

/** Writes one entry for each run of a job, at its end. */
export class JobLog extends RecordLog<JobRun> {
  protected override fieldsOf(run: JobRun): Readonly<Record<string, unknown>> {
    const { id, trace, name, queue, handler, attempt, outcome, milliseconds, waited } = run
    return {
      id,
      ...traceFields(trace),
      job: name,
      queue,
      handler,
      attempt,
      outcome,
      milliseconds: rounded(milliseconds),
      waited: rounded(waited),
      ...workFields(run),
    }
  }

  /** `job mail.welcome 42 done in 12.3 ms, attempt 1 of 10, queue mail, waited 8 ms, 3 statements in 4.5 ms, commit [42]` */
  protected override lineOf(run: JobRun): string {
    const { id, trace, place, queue, attempt, attempts, outcome, milliseconds, waited } = run
    return (
      `${place} ${outcome} in ${rounded(milliseconds)} ms, attempt ${attempt} of ${attempts}, queue ${queue}, waited ${rounded(waited)} ms` +
      `${describeWork(run)} ${tagOf(id, trace)}`
    )
  }

  protected override subjectOf({ id, trace, name, place }: JobRun): Subject {
    return { place, tag: tagOf(id, trace), fields: { id, ...traceFields(trace), job: name } }
  }
}
