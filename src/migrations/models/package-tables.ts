import type { Table } from '../../db/catalog/catalog.js'

/*
 * The tables of this package, whose classes it has itself. A program may have a table of such a name: a column tells.
 */

interface PackageTable {
  readonly column: string
  /** What the program adds to its models; undefined for a table that needs no model. */
  readonly model?: string
}

const JOBS = "JobRecord of 'sequitur/jobs'"
const FEEDS = "FeedEvent of 'sequitur/feeds'"

const TABLES: ReadonlyMap<string, PackageTable> = new Map([
  ['SequelizeMeta', { column: 'name' }],
  ['migration_step', { column: 'step' }],
  ['job', { column: 'kept_key', model: JOBS }],
  ['job_worker', { column: 'valid_until' }],
  ['job_limit', { column: 'bucket' }],
  ['job_cron', { column: 'last' }],
  ['job_step', { column: 'job_id' }],
  ['feed_event', { column: 'topic_key', model: FEEDS }],
  ['feed_topic', { column: 'topic_key' }],
  ['feed_relay', { column: 'taken_by' }],
  ['feed_relay_topic', { column: 'topic_key' }],
  ['idempotency_record', { column: 'expires', model: "IdempotencyRecord of 'sequitur/idempotency'" }],
])

export function isPackageTable(table: Table): boolean {
  const known = TABLES.get(table.name)
  return known !== undefined && table.columns.some(({ name }) => name === known.column)
}

/** The models of this package that belong to tables: `JobRecord of 'sequitur/jobs'`. */
export function packageModels(tables: readonly Table[]): string[] {
  return tables.filter(isPackageTable).flatMap(({ name }) => TABLES.get(name)?.model ?? [])
}
