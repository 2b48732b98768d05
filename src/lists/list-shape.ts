import type { Check } from '../schema/shape/check.js'
import type { ArrayShape, Property, Shape } from '../schema/shape/shape.js'
import { type ListFilter, type ListPlan, pathOf } from './list-plan.js'
import type { ListOperator } from './options.js'

/** The query parameters of a list. */
export function listProperties(plan: ListPlan): [string, Property][] {
  const { filters, sorts, defaultSort, includes, fields, maxItems, maxSort } = plan
  const directions = [...sorts.keys()].flatMap((path) => [path, `-${path}`])
  return [
    ...filters.map((filter): [string, Property] => [filter.parameter, optional(filterShape(filter, maxItems))]),
    ...names('sort', directions, maxSort, SORT, defaultSort),
    ...names('include', includes, includes.length, INCLUDE),
    ...names('fields', fields ?? [], fields?.length ?? 0, FIELDS),
  ]
}

const SORT = 'The columns to sort by, with a minus for a descending order. Rows without a value come last.'
const INCLUDE = 'The associated records to send with each record.'
const FIELDS = 'The properties to send of each record; without it, all.'

const DESCRIPTIONS: Readonly<Record<ListOperator, string>> = {
  eq: 'is equal to this value',
  ne: 'has another value than this one',
  in: 'has one of these values',
  lt: 'is less than this value',
  lte: 'is at most this value',
  gt: 'is greater than this value',
  gte: 'is at least this value',
  contains: 'contains this text, in this upper and lower case',
  startsWith: 'begins with this text, in this upper and lower case',
  null: 'has no value (true), or has one (false)',
}

function filterShape({ column, operator }: ListFilter, maxItems: number): Shape {
  const description = `Only records of which ${column.path} ${DESCRIPTIONS[operator]}.`
  const { shape } = column
  switch (operator) {
    case 'null':
      return { kind: 'boolean', description }
    case 'in':
      return { kind: 'array', items: shape, minItems: 1, maxItems, description }
    case 'contains':
    case 'startsWith':
      return { ...shape, ...(shape.kind === 'string' ? { minLength: 1 } : {}), description }
    default:
      return { ...shape, description }
  }
}

function optional(shape: Shape): Property {
  return { shape, optional: true }
}

/** A parameter with some of these names, separated by commas; none if there are no names. */
function names(
  parameter: string,
  values: readonly string[],
  maxItems: number,
  description: string,
  byDefault?: readonly string[],
): [string, Property][] {
  if (values.length === 0) return []
  const base: ArrayShape = { kind: 'array', items: { kind: 'enum', values }, maxItems, commas: true }
  const shape: Shape = { ...base, customValidation: { base, checks: [DISTINCT] }, description }
  return [[parameter, { ...optional(shape), ...(byDefault === undefined ? {} : { default: byDefault }) }]]
}

const DISTINCT: Check = {
  accepts: (json) => !Array.isArray(json) || new Set(json.map(String).map(pathOf)).size === json.length,
  message: 'must not have a name twice',
}
