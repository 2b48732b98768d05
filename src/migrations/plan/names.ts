import { isMysql } from '../../db/is-mysql.js'
import type { DatabaseKind, TableName } from '../../db/catalog/catalog.js'

/** Words that cannot be a name without quotes in one of the databases. */
const RESERVED: ReadonlySet<string> = new Set(
  `
  accessible add all alter analyse analyze and any array as asc asensitive asymmetric authorization autoincrement
  before between bigint binary blob both by call cascade case cast change char character check collate collation column
  commit concurrently condition constraint continue convert create cross cube cume_dist current_catalog current_date
  current_role current_schema current_time current_timestamp current_user cursor database databases day_hour
  day_microsecond day_minute day_second dec decimal declare default deferrable delayed delete delete_domain_id
  dense_rank desc describe deterministic distinct distinctrow div do do_domain_ids double drop dual each else elseif
  empty enclosed end escape escaped except exists exit explain false fetch first_value float for force foreign freeze
  from full fulltext function generated get grant group grouping groups having high_priority hour_microsecond
  hour_minute hour_second if ignore ignore_domain_ids ilike in index infile initially inner inout insensitive insert
  int integer intersect interval into io_after_gtids io_before_gtids is isnull iterate join json_table key keys kill
  lag last_value lateral lead leading leave left library like limit linear lines load localtime localtimestamp lock
  long longblob longtext loop low_priority manual master_bind master_demote_to_replica master_demote_to_slave
  master_ssl_verify_server_cert match maxvalue mediumblob mediumint mediumtext middleint minute_microsecond
  minute_second mod modifies natural no_write_to_binlog not nothing notnull nth_value ntile null numeric of offset on
  only optimize optimizer_costs optionally or order out outer outfile over overlaps page_checksum parallel
  parse_vcol_expr partition percent_rank placing portion precision primary procedure purge qualify raise range rank
  read read_write reads real recursive ref_system_id references regexp release rename repeat replace require resignal
  restrict return returning revoke right rlike row row_number rows schema schemas second_microsecond select sensitive
  separator session_user set show signal similar smallint some spatial specific sql sql_big_result sql_calc_found_rows
  sql_small_result sqlexception sqlstate sqlwarning ssl starting stats_auto_recalc stats_persistent stats_sample_pages
  stored straight_join symmetric system table tables tablesample terminated then tinyblob tinyint tinytext to trailing
  transaction trigger true undo union unique unlock unsigned update usage use user using utc_date utc_time
  utc_timestamp values varbinary varchar varcharacter variadic varying verbose virtual when where while window with
  write xor year_month zerofill
`
    .trim()
    .split(/\s+/),
)

/** The name as SQL, with quotes only where it needs them. */
export function quote(kind: DatabaseKind, name: string): string {
  if (/^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name)) return name
  return isMysql(kind) ? `\`${name.replaceAll('`', '``')}\`` : `"${name.replaceAll('"', '""')}"`
}

export function quoteTable(kind: DatabaseKind, { schema, name }: TableName): string {
  return schema === undefined ? quote(kind, name) : `${quote(kind, schema)}.${quote(kind, name)}`
}

export function quoteList(kind: DatabaseKind, names: readonly string[]): string {
  return names.map((name) => quote(kind, name)).join(', ')
}

/** A text as SQL that every session reads alike: without a backslash, which MySQL's sessions read in two ways. */
export function quoteText(kind: DatabaseKind, text: string): string {
  const quoted = (part: string) => `'${part.replaceAll("'", "''")}'`
  if (!isMysql(kind) || !text.includes('\\')) return quoted(text)
  return `CONCAT(${text.split('\\').map(quoted).join(', CHAR(92), ')})`
}

/** The name with something after it. The name is cut where both are too long. */
export function suffixedName(kind: DatabaseKind, name: string, suffix: string): string {
  return `${cutName(kind, name, Buffer.byteLength(suffix))}${suffix}`
}

/** The most bytes of a name. A longer one is cut, on a character's boundary. @param reserved bytes that are kept free. */
export function cutName(kind: DatabaseKind, name: string, reserved = 0): string {
  const most = (isMysql(kind) ? 64 : 63) - reserved
  let cut = name
  while (Buffer.byteLength(cut) > most) cut = cut.slice(0, -1)
  return cut
}

/** An expression without its texts. */
export function outsideOfTexts(expression: string): string {
  return expression
    .split("'")
    .filter((_, index) => index % 2 === 0)
    .join(' ')
}
