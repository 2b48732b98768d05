import type { Column, ColumnAttributes } from '../catalog.js'
import { enumValuesOf } from './enum-values.js'
import type { ColumnRow } from './statements.js'

/** What a column is read with. */
export interface ColumnFacts {
  readonly isMariadb: boolean
  /** Of its table. */
  readonly tableCollation: string | null
  /** Whether it is one of MariaDB's JSON: longtext, with a CHECK. */
  readonly isJson: boolean
  /** The condition of its own CHECK. */
  readonly check: string | undefined
}

export function toColumn(row: ColumnRow, { isMariadb, tableCollation, isJson, check }: ColumnFacts): Column {
  const { name, collation, comment } = row
  const type = isJson ? 'json' : row.type
  const enumValues = enumValuesOf(type)
  const hasCollation = collation !== null && collation !== tableCollation && !isJson
  return {
    name,
    type,
    ...(enumValues ? { enumValues } : {}),
    nullable: row.is_nullable === 'YES',
    ...valueOf(row, isMariadb),
    ...(hasCollation ? { collation } : {}),
    ...(comment === '' ? {} : { comment }),
    ...attributesOf(row.extra, check),
  }
}

/** The parts of EXTRA that are no kind of default: `DEFAULT_GENERATED on update CURRENT_TIMESTAMP(3) INVISIBLE`. */
function attributesOf(extra: string, check: string | undefined): { readonly attributes?: ColumnAttributes } {
  const onUpdate = /\bon update (\w{1,64}(?:\(\d?\))?)/i.exec(extra)?.[1]
  const attributes = {
    ...(onUpdate === undefined ? {} : { onUpdate }),
    ...(/\bINVISIBLE\b/i.test(extra) ? { isInvisible: true } : {}),
    ...(/\bWITHOUT SYSTEM VERSIONING\b/i.test(extra) ? { isUnversioned: true } : {}),
    ...(check === undefined ? {} : { check }),
  }
  return Object.keys(attributes).length === 0 ? {} : { attributes }
}

function valueOf(row: ColumnRow, isMariadb: boolean): Partial<Column> {
  const extra = row.extra.toUpperCase()
  if (extra.includes('AUTO_INCREMENT')) return { identity: 'auto_increment' }
  // MySQL says DEFAULT_GENERATED of a default that is an expression.
  if (/\b(?:STORED|VIRTUAL|PERSISTENT) GENERATED\b/.test(extra))
    return { generated: { expression: row.expression ?? '', stored: !extra.includes('VIRTUAL') } }
  const value = isMariadb ? row.value : mysqlDefault(row, extra)
  return value === null || value === 'NULL' ? {} : { default: value }
}

const NUMERIC = /^(?:tinyint|smallint|mediumint|int|bigint|decimal|float|double|bit|year)\b/

/** MySQL describes texts without their quotes, MariaDB as SQL. */
function mysqlDefault({ value, type }: ColumnRow, extra: string): string | null {
  if (value === null || /^CURRENT_TIMESTAMP\b/i.test(value)) return value
  if (extra.includes('DEFAULT_GENERATED')) return `(${value})`
  return NUMERIC.test(type) ? value : `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
