import type { Column, Table } from '../../db/catalog/catalog.js'
import type { ExistingClass } from './existing-classes.js'

/** A class for a table, before its text is written. */
export interface ModelClass {
  readonly name: string
  /** Without an extension: `order-item`. */
  readonly file: string
  readonly table: Table
  /** The name of the class in words: `order item`. */
  readonly words: readonly string[]
  readonly columns: readonly ColumnMember[]
  /** Of the columns of the key, as the class has them. */
  readonly key: readonly string[]
  /** Whether the names of the columns are those of the properties, in snake case. */
  readonly underscored: boolean
  readonly timestamps: boolean
  /** The members of each of the option `indexes` in @Table. */
  readonly indexes: readonly (readonly string[])[]
  /** The class as the program has it; undefined for a new one. */
  readonly existing: ExistingClass | undefined
  /** What the class cannot say, a sentence each. */
  readonly notes: readonly string[]
}

export interface ColumnMember {
  readonly property: string
  readonly column: Column
  /** The members of the options of @Column; `type` is the first. */
  readonly options: readonly string[]
  /** `CreationOptional<number>` */
  readonly type: string
  readonly doc: readonly string[]
  /** Whether only the database writes it. */
  readonly isReadonly: boolean
  /** Whether the program's class does not have it yet. */
  readonly isNew: boolean
}

export interface AssociationMember {
  readonly property: string
  /** `BelongsTo` */
  readonly decorator: string
  /** What is between the parentheses of the decorator. */
  readonly parameters: string
  readonly type: string
  /** The classes that it names. */
  readonly classes: readonly string[]
}

/** A class whose associations are known. */
export interface AssociatedClass extends ModelClass {
  /** The class that a column refers to, by the property of the column. */
  readonly targets: ReadonlyMap<string, string>
  readonly associations: readonly AssociationMember[]
  /** The members of each of the `indexes` that the program's class lacks, of those of new foreign keys. */
  readonly newIndexes: readonly (readonly string[])[]
}
