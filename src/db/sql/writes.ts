import { startsWithKeyword } from './starts-with-keyword.js'

const isWritingStatement = startsWithKeyword('(?:INSERT|UPDATE|DELETE|REPLACE|MERGE|COPY|LOAD|CALL|DO)')
const isReadingStatement = startsWithKeyword('(?:SELECT|VALUES|SHOW|PRAGMA|EXPLAIN|WITH|SAVEPOINT|RELEASE|ROLLBACK)')
/** EXPLAIN ANALYZE executes its statement. */
const hasStatementInside = startsWithKeyword('WITH', 'EXPLAIN')
/** REPLACE( is a function. */
const WRITING_WORD = /\b(?:INSERT|UPDATE|DELETE|MERGE|REPLACE(?!\s*\())\b/i

/** Whether a statement is known to write rows. One that only calls a function that writes is not, and neither is one that alters tables. */
export function isKnownWrite(sql: string): boolean {
  return isWritingStatement(sql) || (hasStatementInside(sql) && WRITING_WORD.test(sql))
}

/** Whether a statement may write anything: all but the reading ones. A SELECT may still call a function that writes. */
export function mayWrite(sql: string): boolean {
  return isKnownWrite(sql) || !isReadingStatement(sql)
}
