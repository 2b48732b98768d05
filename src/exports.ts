export { Rows, rows, type RowsOptions, type RowsReplyOptions } from './exports/rows.js'
