import { DataTypes, literal, type OrderItem } from 'sequelize'
import { quoted } from '../db/sequelize/quote.js'
import { typed } from '../paging/order-columns.js'
import type { ListColumn } from './list-column.js'
import { type ListPlan, pathOf } from './list-plan.js'

/**
 * The order of the rows, which ends with the primary key: no two rows are equal in it. The key has the direction of the last column, so that
 * an index over both is read in one direction. Rows without a value come last, on every database and in both directions.
 */
export function orderOf({ sorts, key }: ListPlan, sort: readonly string[], dialect: string): OrderItem[] {
  const items = sort.flatMap((item) => {
    const column = sorts.get(pathOf(item))
    return column ? orderItems(column, directionOf(item), dialect) : []
  })
  const paths = sort.map(pathOf)
  const last = directionOf(sort.at(-1) ?? '')
  const rest = key.filter((name) => !paths.includes(name))
  return [...items, ...rest.map((name): OrderItem => [name, last])]
}

function directionOf(item: string): 'ASC' | 'DESC' {
  return item.startsWith('-') ? 'DESC' : 'ASC'
}

function orderItems(column: ListColumn, direction: 'ASC' | 'DESC', dialect: string): readonly OrderItem[] {
  const { steps, attribute, model, nullable } = column
  const ordered = (text: string) => [...steps, attribute, text] as unknown as OrderItem // its type lacks names of associations
  if (!nullable || (dialect === 'postgres' && direction === 'ASC')) return [ordered(direction)]
  if (dialect !== 'mysql' && dialect !== 'mariadb') return [ordered(`${direction} NULLS LAST`)]
  // They have no NULLS LAST.
  const isNull = literal(`${quoted(model, attribute, steps)} IS NULL`)
  return [[typed(isNull, { type: DataTypes.INTEGER, nullable: false }), 'ASC'], ordered(direction)]
}
