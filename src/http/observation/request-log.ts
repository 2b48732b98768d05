import type { RequestRecord } from '../../core/events/request-record.js'
import { methodOf, placeOf, rounded, tagOf, traceFields } from './log-entry.js'
import type { Subject } from './plan-log.js'
import { describeWork, RecordLog, workFields } from './record-log.js'

/** Writes one entry for each request, at its end. */
export class RequestLog extends RecordLog<RequestRecord> {
  protected override fieldsOf(record: RequestRecord): Readonly<Record<string, unknown>> {
    const { id, route, handler, status, bytes, milliseconds, isAborted, trace } = record
    return {
      id,
      ...traceFields(trace),
      method: methodOf(record),
      [route === undefined ? 'path' : 'route']: placeOf(record),
      ...(handler === undefined ? {} : { handler }),
      ...(status === undefined ? {} : { status }),
      ...(isAborted ? { aborted: true } : {}),
      milliseconds: rounded(milliseconds),
      bytes,
      ...workFields(record),
    }
  }

  /** `POST /heros/:id 201 in 12.3 ms, 345 bytes, 3 statements in 4.5 ms, commit [4f2c]` */
  protected override lineOf(record: RequestRecord): string {
    const { id, status, bytes, milliseconds, isAborted } = record
    const outcome = [...(status === undefined ? [] : [status]), ...(isAborted ? ['aborted'] : [])].join(' ')
    return (
      `${methodOf(record)} ${placeOf(record)} ${outcome} in ${rounded(milliseconds)} ms, ${bytes} bytes` +
      `${describeWork(record)} ${tagOf(id, record.trace)}`
    )
  }

  protected override subjectOf(record: RequestRecord): Subject {
    const { id, route, trace } = record
    const place = placeOf(record)
    return {
      place,
      tag: tagOf(id, trace),
      fields: { id, ...traceFields(trace), [route === undefined ? 'path' : 'route']: place },
    }
  }
}
