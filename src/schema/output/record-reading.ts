/**
 * The member by which the class of a record tells the encoder what the record knows beyond its properties. The classes of models have it; plain
 * objects and other classes do not. A symbol, as each name could be a column.
 */
export const recordReading = Symbol('recordReading')

export interface RecordReading {
  /** A value that was selected under a name which is no property of the class: `attributes: [[col('team.name'), 'team_name']]`. */
  selected(this: void, record: object, name: string): unknown
  /** Whether the record's value of a property that is undefined is not known: the statement has not read it. */
  isUnread(this: void, record: object, name: string): boolean
}

/** Undefined for an object that is not a record of a database. */
export function readingOf(source: object): RecordReading | undefined {
  return (source as { readonly [recordReading]?: RecordReading })[recordReading]
}
