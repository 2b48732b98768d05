import type { Column, DatabaseKind } from '../../../db/catalog/catalog.js'
import { type ParsedType, parseType, typeChange } from '../type-change.js'

const TEXT = /^(?:character varying|character|tinytext|text|mediumtext|longtext)$/
const EXACT = /^(?:tinyint|smallint|mediumint|integer|bigint|numeric)(?: unsigned)?$/
const APPROXIMATE = /^(?:float|double)/
const TIME = /^(?:date|datetime|timestamp|time|year)$/

const ANY_TEXT = 'varchar(255)'
/** All digits that there may be, 30 of them after the point. */
const ANY_NUMBER = 'decimal(65,30)'

/**
 * The type that a column gets before `--cast` writes its new values: one that has room for the old ones and for the new ones, as the server would refuse, or round,
 * a new value of the old type. Undefined where that has room for both.
 */
export function typeForCast(kind: DatabaseKind, from: Column, to: Column): string | undefined {
  if (from.enumValues && to.enumValues) return undefined // its values are added
  if (typeChange(kind, from, to) !== 'casts') return to.type
  const [old, now] = [parseType(from.type), parseType(to.type)]
  const families = [familyOf(from, old), familyOf(to, now)]
  if (families.includes(undefined)) return undefined
  const [one, other] = families
  if (one === 'exact' && other === 'exact') return now.base === 'numeric' ? ANY_NUMBER : undefined
  if (one === 'exact' && other === 'approximate') return 'double'
  if (one === other || (one === 'approximate' && other === 'exact')) return undefined
  if (one === 'text') return hasRoom(old) ? undefined : ANY_TEXT
  return other === 'text' && hasRoom(now) ? to.type : ANY_TEXT
}

function familyOf({ enumValues }: Column, { base }: ParsedType): string | undefined {
  if (enumValues) return 'enum'
  if (TEXT.test(base)) return 'text'
  if (EXACT.test(base)) return 'exact'
  if (APPROXIMATE.test(base)) return 'approximate'
  return TIME.test(base) ? 'time' : undefined
}

/** Whether a text may be as long as {@link ANY_TEXT}. */
function hasRoom({ base, sizes: [size] }: ParsedType): boolean {
  return size === undefined ? base !== 'character' : size >= 255
}
