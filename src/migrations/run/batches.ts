import { QueryTypes, type Sequelize } from 'sequelize'
import { setTimeout as wait } from 'node:timers/promises'
import type { Session } from '../../db/session/session.js'
import { tokensOf } from '../../db/sql/lexer.js'
import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import { batchTableText } from '../steps/step-text.js'
import type { BatchesStep } from '../steps/step.js'
import { MigrationError } from './errors.js'

export type BatchKey = string | number

/** What a batch has done. */
export interface Batch {
  /** The last key so far; undefined for a table without rows. */
  readonly last: BatchKey | undefined
  readonly isLast: boolean
}

/** Executes the statement for the next rows after a key. @throws MigrationError for a key that is NULL, or neither a number nor a text. */
export async function runBatch(session: Session, step: BatchesStep, after: BatchKey | undefined): Promise<Batch> {
  const { sequelize } = session
  if (after === undefined) await refuseNull(session, step)
  const keys = await nextKeys(session, step, after)
  const isLast = keys.count < step.size
  if (keys.last === undefined) return { last: after, isLast }
  const key = rawSql(quoted(sequelize, step.key))
  const from = after === undefined ? rawSql('') : sql`${key} > ${after} AND `
  const range = sql`${from}${key} <= ${keys.last}`
  await session.execute(withCondition(step.statement, range, sequelize.getDialect()))
  return { last: keys.last, isLast }
}

async function nextKeys(
  session: Session,
  step: BatchesStep,
  after: BatchKey | undefined,
): Promise<{ readonly count: number; readonly last: BatchKey | undefined }> {
  const key = rawSql(quoted(session.sequelize, step.key))
  const where = after === undefined ? rawSql('') : sql`WHERE ${key} > ${after}`
  const limit = rawSql(String(step.size))
  const rows = await session.execute(
    sql<{
      last: unknown
    }>`SELECT ${key} AS last FROM ${rawSql(quotedTable(session.sequelize, step))} ${where} ORDER BY ${key} LIMIT ${limit}`,
  )
  return { count: rows.length, last: rows.length === 0 ? undefined : keyOf(rows.at(-1)?.last, step) }
}

async function refuseNull(session: Session, step: BatchesStep): Promise<void> {
  const { key } = step
  const from = rawSql(quotedTable(session.sequelize, step))
  const column = rawSql(quoted(session.sequelize, key))
  const rows = await session.execute(sql`SELECT 1 AS one FROM ${from} WHERE ${column} IS NULL LIMIT 1`)
  if (rows.length > 0)
    throw new MigrationError(
      `steps.batches(): ${batchTableText(step)}.${key} is NULL in rows that no batch would reach. Name another column.`,
    )
}

function keyOf(value: unknown, step: BatchesStep): BatchKey {
  if (typeof value === 'string' || typeof value === 'number') return value
  throw new MigrationError(
    `steps.batches(): ${batchTableText(step)}.${step.key} is neither a number nor a text. Name another column.`,
  )
}

function quoted(sequelize: Sequelize, name: string): string {
  return sequelize.getQueryInterface().quoteIdentifier(name, true)
}

/** `public.hero` is a table of a schema. */
function quotedTable(sequelize: Sequelize, { table }: BatchesStep): string {
  const parts = typeof table === 'string' ? table.split('.') : [table.schema, table.name]
  return parts.flatMap((part) => (part === undefined ? [] : quoted(sequelize, part))).join('.')
}

const WHERE = /\bWHERE\b/gi
/** What may come after the conditions. */
const AFTER_WHERE = /;|\b(?:RETURNING|ORDER\s+BY|LIMIT)\b/i

/**
 * The statement with one more condition.
 *
 * @throws MigrationError for a statement with something after its conditions.
 */
export function withCondition(statement: Sql, condition: Sql, dialect: string): Sql {
  const text = statement.texts.join('?')
  const outside = outsideOf(text, dialect)
  if (AFTER_WHERE.test(outside))
    throw new MigrationError(
      'steps.batches(): leave RETURNING, ORDER BY, LIMIT and the semicolon out of the statement.',
    )
  const where = [...outside.matchAll(WHERE)].at(-1)
  // The statement may end with a comment.
  if (!where) return sql`${statement}\nWHERE ${condition}`
  const [before, conditions] = splitAt(statement, where.index + where[0].length)
  return sql`${before} (${conditions}\n) AND ${condition}`
}

/** The text with spaces for all that is quoted, a comment or in parentheses. */
function outsideOf(text: string, dialect: string): string {
  let outside = ''
  let depth = 0
  let from = 0
  for (const { kind, start, end } of [
    ...tokensOf(text, dialect),
    { kind: 'end', start: text.length, end: text.length },
  ]) {
    const plain = text.slice(from, start)
    outside += depth === 0 ? plain : ' '.repeat(plain.length)
    outside += ' '.repeat(end - start)
    if (kind === 'parenthesis') depth += text[start] === '(' ? 1 : -1
    from = end
  }
  return outside
}

/** The two parts of a statement, at a place of its text in which each value is one character. */
function splitAt({ texts, values }: Sql, place: number): readonly [Sql, Sql] {
  let end = 0
  const index = texts.findIndex((text) => {
    end += text.length + 1
    return place < end
  })
  const at = place - (end - (texts[index]?.length ?? 0) - 1)
  const part = (list: readonly string[], some: readonly unknown[]): Sql => ({ kind: 'sql', texts: list, values: some })
  const text = texts[index] ?? ''
  return [
    part([...texts.slice(0, index), text.slice(0, at)], values.slice(0, index)),
    part([text.slice(at), ...texts.slice(index + 1)], values.slice(index)),
  ]
}

/** Milliseconds. */
const LAG_LIMIT = 1_000
const LAG_PAUSE = 500
const MOST_WAIT = 60_000

/** Waits while a replica is behind, at most a minute: one that is broken does not stop a migration. Only PostgreSQL reports how far they are. */
export async function whileReplicasLag(sequelize: Sequelize, log: (line: string) => void): Promise<void> {
  if (sequelize.getDialect() !== 'postgres') return
  for (let waited = 0; waited < MOST_WAIT && (await replicaLag(sequelize)) > LAG_LIMIT; waited += LAG_PAUSE) {
    if (waited === 0) log('A replica is more than a second late: waiting for it.')
    await wait(LAG_PAUSE)
  }
}

async function replicaLag(sequelize: Sequelize): Promise<number> {
  const [row] = await sequelize.query<{ readonly lag: string | number | null }>(
    'SELECT max(extract(epoch FROM replay_lag)) * 1000 AS lag FROM pg_catalog.pg_stat_replication',
    { type: QueryTypes.SELECT },
  )
  return Number(row?.lag ?? 0)
}
