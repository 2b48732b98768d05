import { randomBytes } from 'node:crypto'
import type { TableName } from '../../../db/catalog/catalog.js'

/** Its tables are not logged, nor flushed to the disk, and need no more than the right to create temporary tables. But there is only one. */
const TEMPORARY = 'pg_temp'

/** A schema of the models, and the one that stands for it. */
export interface ScratchSchema {
  /** Undefined for the current one. */
  readonly schema: string | undefined
  /** As the server quotes it. */
  readonly quoted: string
  /** Needs no quotes. */
  readonly scratch: string
}

/** The schemas of a transaction that stand for those of the models. */
export class ScratchSchemas {
  /** The first one stands for the current schema. */
  readonly all: readonly ScratchSchema[]
  /** The current schema, outside of the scratch place; null if there is none. */
  readonly current: string | null

  /**
   * @param current the current schema; null if there is none.
   * @param others the others, with and without quotes.
   */
  constructor(current: string | null, others: readonly { readonly name: string; readonly quoted: string }[]) {
    const further = others.filter(({ name }) => name !== current)
    const prefix = `sequitur_scratch_${randomBytes(6).toString('hex')}`
    this.current = current
    this.all = [
      { schema: undefined, quoted: '', scratch: further.length === 0 ? TEMPORARY : prefix },
      ...further.map(({ name, quoted }, index) => ({ schema: name, quoted, scratch: `${prefix}_${index}` })),
    ]
  }

  /** The statements that create them. */
  get statements(): readonly string[] {
    return this.all.flatMap(({ scratch }) => (scratch === TEMPORARY ? [] : `CREATE SCHEMA ${scratch}`))
  }

  /** The first one: the search path begins with it. */
  get first(): string {
    return this.all[0]?.scratch ?? ''
  }

  /** @returns the name of the scratch table that stands for a table. */
  of({ schema, name }: TableName): Required<TableName> {
    const wanted = schema === this.current ? undefined : schema
    const found = this.all.find((one) => one.schema === wanted)
    return { schema: found?.scratch ?? this.first, name }
  }

  /** Whether two names are those of one table. */
  isSame(one: TableName, other: TableName): boolean {
    return one.name === other.name && this.of(one).schema === this.of(other).schema
  }
}
