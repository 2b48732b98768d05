import { QueryTypes, type Sequelize } from 'sequelize'
import type { GeneratedKey, KeyColumn } from '../../dialect.js'

/** The type of the column may end before its sequence, and the sequence before the type. */
const KEYS = `SELECT given.name AS "table", attname AS "column", format_type(atttypid, NULL) AS type,
    coalesce(pg_sequence_last_value(seqrelid), 0)::text AS last,
    least(seqmax, CASE atttypid WHEN 'int2'::regtype THEN 32767 WHEN 'int4'::regtype THEN 2147483647 ELSE seqmax END)::text AS most
  FROM unnest($1::text[], $2::text[]) AS given(name, key)
  JOIN pg_catalog.pg_attribute ON attrelid = to_regclass(given.name) AND attname = given.key
  JOIN pg_catalog.pg_sequence ON seqincrement > 0 AND seqrelid =
    CASE WHEN to_regclass(given.name) IS NOT NULL THEN to_regclass(pg_get_serial_sequence(given.name, given.key)) END`

/** The keys of the sequences that belong to columns: those of SERIAL, BIGSERIAL and IDENTITY. */
export async function readKeys(sequelize: Sequelize, columns: readonly KeyColumn[]): Promise<readonly GeneratedKey[]> {
  const bind = [columns.map(({ table }) => table), columns.map(({ column }) => column)]
  const rows = await sequelize.query<Record<keyof GeneratedKey, string>>(KEYS, { bind, type: QueryTypes.SELECT })
  return rows.map(({ last, most, ...key }) => ({ ...key, last: Number(last), most: Number(most) }))
}
