import { type FindAttributeOptions, literal, type Model, type ProjectionAlias } from 'sequelize'
import { instanceInternals } from '../db/sequelize/internals.js'
import type { OrderColumn, Place } from './keyset.js'

/** Additional columns of a query, from which the places of its rows are read. */
export class PlaceColumns {
  readonly #columns: readonly { readonly alias: string; readonly column: OrderColumn }[]

  constructor(columns: readonly OrderColumn[]) {
    this.#columns = columns.map((column, index) => ({ column, alias: `__place_${index}` }))
  }

  /** The columns for a query of nothing else. */
  get attributes(): ProjectionAlias[] {
    return this.expressions.map(([sql, alias]) => [literal(sql), alias])
  }

  /** The SQL of each column, with its alias. */
  get expressions(): readonly (readonly [sql: string, alias: string])[] {
    return this.#columns.map(({ column: { sql, kind, codec }, alias }) => [codec.encode(sql, kind), alias])
  }

  addTo(given: FindAttributeOptions | undefined): FindAttributeOptions {
    return Array.isArray(given)
      ? [...given, ...this.attributes]
      : { ...given, include: [...(given?.include ?? []), ...this.attributes] }
  }

  /** The place of a row as the driver returned it. */
  read(values: object): Place {
    return this.#columns.map(({ alias, column }) => {
      const value: unknown = Reflect.get(values, alias)
      return value === null || value === undefined ? null : column.codec.fromDriver(value)
    })
  }

  /** Removes the place from a row: the handler gets the columns of its statement and no others. */
  take(row: Model): Place {
    // With { raw: true }, Sequelize returns plain objects.
    const isInstance = 'dataValues' in row
    const place = this.read(isInstance ? row.dataValues : row)
    for (const holder of isInstance ? [row.dataValues, instanceInternals(row)._previousDataValues] : [row])
      for (const { alias } of this.#columns) Reflect.deleteProperty(holder, alias)
    return place
  }

  /** As {@link take}, from the values of a row of which Sequelize builds an instance: it leaves out those that are undefined. */
  takeFromValues(values: Record<string, unknown>): Place {
    const place = this.read(values)
    for (const { alias } of this.#columns) values[alias] = undefined
    return place
  }
}
