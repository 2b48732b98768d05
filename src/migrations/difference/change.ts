import type { Column, Constraint, EnumType, ForeignKey, Index, Table, TableName } from '../../db/catalog/catalog.js'

/**
 * What of a column differs. `values` are those of an enum; `expression` is that of a generated column; `sequence` is one that ends before the type does.
 */
export type ColumnPart = 'type' | 'values' | 'nullable' | 'default' | 'identity' | 'sequence' | 'comment' | 'expression'

/** What a column may have that its model does not state. */
export type DroppablePart = 'default' | 'nullable'

/**
 * One change of a database. `table` is the table as it is in the database, with the new names of what is renamed: renames come first.
 */
export type Change =
  | { readonly kind: 'create enum'; readonly type: EnumType }
  | { readonly kind: 'add enum value'; readonly type: EnumType; readonly value: string; readonly after?: string }
  | { readonly kind: 'drop enum'; readonly type: EnumType }
  | { readonly kind: 'create table'; readonly table: Table }
  | { readonly kind: 'drop table'; readonly table: Table }
  | { readonly kind: 'rename table'; readonly table: Table; readonly to: string }
  | { readonly kind: 'comment table'; readonly table: Table; readonly comment: string }
  | { readonly kind: 'rename column'; readonly table: Table; readonly column: Column; readonly to: string }
  | { readonly kind: 'add column'; readonly table: Table; readonly column: Column }
  | { readonly kind: 'drop column'; readonly table: Table; readonly column: Column }
  | AlterColumn
  | {
      readonly kind: 'drop column parts'
      readonly table: Table
      /** As the column is once the other changes are made. */
      readonly from: Column
      readonly to: Column
      readonly parts: readonly DroppablePart[]
    }
  | { readonly kind: 'change primary key'; readonly table: Table; readonly key: Constraint }
  | { readonly kind: 'add unique'; readonly table: Table; readonly unique: Constraint }
  | { readonly kind: 'drop unique'; readonly table: Table; readonly unique: Constraint }
  | { readonly kind: 'add index'; readonly table: Table; readonly index: Index }
  | { readonly kind: 'replace index'; readonly table: Table; readonly from: Index; readonly index: Index }
  | { readonly kind: 'drop index'; readonly table: Table; readonly index: Index }
  | { readonly kind: 'add foreign key'; readonly table: Table; readonly foreignKey: ForeignKey }
  | {
      readonly kind: 'replace foreign key'
      readonly table: Table
      readonly from: ForeignKey
      readonly foreignKey: ForeignKey
    }
  | { readonly kind: 'validate foreign key'; readonly table: Table; readonly foreignKey: ForeignKey }
  | { readonly kind: 'drop foreign key'; readonly table: Table; readonly foreignKey: ForeignKey }

export interface AlterColumn {
  readonly kind: 'alter column'
  readonly table: Table
  readonly from: Column
  readonly to: Column
  readonly parts: readonly ColumnPart[]
}

export type ChangeOf<Kind extends Change['kind']> = Extract<Change, { readonly kind: Kind }>

/** The changes of some kinds, in their order. */
export function changesOf<Kind extends Change['kind']>(
  changes: readonly Change[],
  ...kinds: readonly Kind[]
): ChangeOf<Kind>[] {
  const wanted: readonly Change['kind'][] = kinds
  return changes.filter((change): change is ChangeOf<Kind> => wanted.includes(change.kind))
}

/** `hero`, `museum.hero`: as people name a table. */
export function displayOf({ schema, name }: TableName): string {
  return schema === undefined ? name : `${schema}.${name}`
}

/** `hero.age` */
export function displayOfColumn(table: TableName, column: string): string {
  return `${displayOf(table)}.${column}`
}

/** `hero.age.default`, `hero.age.not-null` */
export function displayOfPart(table: TableName, column: string, part: DroppablePart): string {
  return `${displayOfColumn(table, column)}.${part === 'nullable' ? 'not-null' : part}`
}

export function isSameTable(one: TableName, other: TableName): boolean {
  return one.name === other.name && one.schema === other.schema
}
