import type { ForeignKey, Table } from '../../../db/catalog/catalog.js'
import { changesOf } from '../../difference/change.js'
import type { PlanContext } from '../context.js'
import { createIndex, createTableText, creationOrder, foreignKeyText, indexText } from '../definitions.js'
import { type PlacedStep, sqlStep } from '../planned.js'
import { commentOn } from './step.js'

/** New tables, with all that belongs to them: they have no rows that anybody waits for. */
export function newTables(context: PlanContext): PlacedStep[] {
  const tables = changesOf(context.changes, 'create table').map(({ table }) => table)
  const ordered = creationOrder(tables)
  return [
    ...newSchemas(context, tables),
    ...ordered.flatMap(({ table, own }) => newTable(context, table, own)),
    ...ordered.flatMap(({ table, later }) => later.map((key) => laterKey(context, table, key))),
  ]
}

function newSchemas(context: PlanContext, tables: readonly Table[]): PlacedStep[] {
  const known = new Set(context.database.tables.map(({ schema }) => schema))
  const schemas = new Set(tables.flatMap(({ schema }) => (schema === undefined || known.has(schema) ? [] : [schema])))
  return [...schemas].map((name) =>
    sqlStep({ name }, 'types', 'create schema', `CREATE SCHEMA IF NOT EXISTS ${context.quote(name)}`),
  )
}

function newTable(context: PlanContext, table: Table, foreignKeys: readonly ForeignKey[]): PlacedStep[] {
  const { length } = table.columns
  const what = `create table, ${length === 1 ? '1 column' : `${length} columns`}`
  const add = (what: string, sql: string) => sqlStep(table, 'tables', what, sql)
  return [
    add(what, createTableText('postgres', table, { foreignKeys })),
    ...table.indexes.map((index) =>
      add(`add index ${index.name}`, `${createIndex(index)} ${indexText('postgres', table, index)}`),
    ),
    ...(table.comment === undefined ? [] : [add('comment', commentOn(`TABLE ${context.table(table)}`, table.comment))]),
    ...table.columns.flatMap(({ name, comment }) =>
      comment === undefined
        ? []
        : [add(`comment of ${name}`, commentOn(`COLUMN ${context.table(table)}.${context.quote(name)}`, comment))],
    ),
  ]
}

function laterKey(context: PlanContext, table: Table, key: ForeignKey): PlacedStep {
  const sql = `ALTER TABLE ${context.table(table)} ADD ${foreignKeyText('postgres', key)}`
  return sqlStep(table, 'tables', `add foreign key ${key.columns.join(', ')} -> ${key.table.name}`, sql)
}
