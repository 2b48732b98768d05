import { createHash } from 'node:crypto'
import { QueryTypes, type Sequelize } from 'sequelize'
import { tokensOf } from '../../db/sql/lexer.js'

/*
 * A process may have been killed after a statement outside of transactions was executed, and before that was noted. What is asked then, of the catalog.
 */

interface Named {
  readonly name: string
}

/**
 * What the tables, routines and triggers of MySQL or MariaDB that a statement names are like: it has changed since the statement was begun if that was executed, as the server executes a
 * statement about a table as a whole or not at all.
 */
export async function tablesOf(sequelize: Sequelize, statement: string): Promise<string> {
  const read = <Row extends object>(text: string) => sequelize.query<Row>(text, { type: QueryTypes.SELECT })
  const names = namesIn(statement)
  const isNamed = ({ name }: Named) => names.has(name.toLowerCase())
  const tables = await read<Named>(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name',
  )
  const routines = await read<Named>(
    'SELECT routine_name AS name, routine_definition AS text FROM information_schema.routines WHERE routine_schema = DATABASE() ORDER BY 1',
  )
  const triggers = await read<Named>(
    'SELECT trigger_name AS name, action_statement AS text FROM information_schema.triggers WHERE trigger_schema = DATABASE() ORDER BY 1',
  )
  const found: unknown[] = [routines.filter(isNamed), triggers.filter(isNamed)]
  for (const { name } of tables.filter(isNamed))
    found.push(await read(`SHOW CREATE TABLE \`${name.replaceAll('`', '``')}\``))
  const written = JSON.stringify(found).replaceAll(/ AUTO_INCREMENT=\d+/g, '')
  return createHash('sha256').update(written).digest('hex')
}

const WORD = /[\w$\u0080-\uffff]+/g
const QUOTES = /^["`]/

/** The words of a statement of MySQL and what it quotes as names, in small letters: what it names is among them. */
function namesIn(statement: string): ReadonlySet<string> {
  const text = statement.toLowerCase()
  const names = new Set<string>()
  let from = 0
  const addWords = (to: number) => {
    for (const [word] of text.slice(from, to).matchAll(WORD)) names.add(word)
  }
  for (const { start, end } of tokensOf(text, 'mysql')) {
    addWords(start)
    const quote = text.charAt(start)
    if (QUOTES.test(quote)) names.add(text.slice(start + 1, end - 1).replaceAll(quote + quote, quote))
    from = end
  }
  addWords(text.length)
  return names
}

/** `CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS hero_name ON public.hero (name)` */
const CONCURRENT_INDEX =
  /^\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+(?:IF\s+NOT\s+EXISTS\s+)?("(?:[^"]|"")+"|[\w$]+)\s+ON\s+(?:ONLY\s+)?((?:"(?:[^"]|"")+"|[\w$]+)(?:\.(?:"(?:[^"]|"")+"|[\w$]+))?)/i

/** Whether a statement of PostgreSQL has others wait for nothing while it waits. */
export function isConcurrent(statement: string): boolean {
  return /^\s*(?:CREATE|DROP|REINDEX)\b/i.test(statement) && /\bCONCURRENTLY\b/i.test(statement)
}

/** What a statement of PostgreSQL that has failed may leave behind, as a sentence. */
export function invalidIndexOf(statement: string): string {
  if (CONCURRENT_INDEX.test(statement))
    return 'An invalid index of it may remain: the next run drops it, and makes it again.'
  return isConcurrent(statement) ? 'An invalid index of it may remain.' : ''
}

/**
 * Drops the invalid index that a `CREATE INDEX CONCURRENTLY` of PostgreSQL has left behind when it failed, or was ended: a later one with `IF NOT EXISTS` would take
 * it for the index.
 */
export async function dropInvalidIndex(sequelize: Sequelize, statement: string): Promise<void> {
  const [, index, table] = CONCURRENT_INDEX.exec(statement) ?? []
  if (index === undefined) return
  const name = index.startsWith('"') ? index.slice(1, -1).replaceAll('""', '"') : index.toLowerCase()
  // A name of more than 63 bytes is cut by the cast, as by CREATE INDEX.
  const found = await sequelize.query<Named>(
    `SELECT indexrelid::regclass::text AS name FROM pg_catalog.pg_index JOIN pg_catalog.pg_class ON pg_class.oid = indexrelid
     WHERE indrelid = to_regclass($1) AND relname = $2::name AND NOT indisvalid`,
    { bind: [table, name], type: QueryTypes.SELECT },
  )
  for (const one of found) await sequelize.query(`DROP INDEX CONCURRENTLY IF EXISTS ${one.name}`)
}
