/*
 * The entry point of the fast path for the client of PostgreSQL. It is one of its own, as it loads pg, which programs with another database do not need.
 */

export { DirectQuery, type DirectStatement } from './direct-query.js'
export { generateRows, type ResultColumns } from './generated-rows.js'
