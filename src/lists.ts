export { listOf, type ListQuery } from './lists/list-of.js'
export type { ListInclude, ListOperator, ListOptions, ListPath } from './lists/options.js'
