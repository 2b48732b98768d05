/*
 * The entry point of the fast path: statements whose SQL is generated once for each shape, and rows that are read by generated code. Everything works, and
 * answers the same, without it: with `fastPath: false` nothing of this folder runs. The client of PostgreSQL has pg.ts; no other file is imported from outside.
 */

export { deleteStatement } from './compiled-delete.js'
export { insertStatement, updateStatement } from './compiled-save.js'
export {
  allStatement,
  countedRowsOf,
  countOf,
  countStatement,
  countUpTo,
  firstStatement,
  keyStatement,
  orderKey,
  rangeOf,
  rowsOf,
  type Selection,
  selectionOf,
  TOTAL,
  withoutEnd,
} from './compiled-select.js'
export { mayBuildLater } from './may-compile.js'
export { rememberPlainTables } from './plain-tables.js'
