import type { ChangedRows } from '../../db/events/table-use.js'

/** `hero`; `hero+` if rows may have been deleted; `hero=7` of an owner. */
export function toSubject({ table, owner, deletes }: ChangedRows): string {
  const name = encoded(table) + (deletes ? '+' : '')
  return owner === undefined ? name : `${name}=${encoded(owner)}`
}

// Half of a surrogate pair, which cannot be encoded, becomes a replacement character.
function encoded(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString())
}

/** None for a text that is no such subject: any program may send a notice. */
export function toChangedRows(subject: string): readonly ChangedRows[] {
  const [, name, plus, owner] = /^([^@+=]+)(\+?)(?:=(.*))?$/.exec(subject) ?? []
  if (name === undefined) return []
  try {
    const ofOwner = owner === undefined ? undefined : decodeURIComponent(owner)
    return [{ table: decodeURIComponent(name), owner: ofOwner, deletes: plus === '+' }]
  } catch {
    return []
  }
}
