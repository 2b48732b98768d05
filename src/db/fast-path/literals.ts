import type { Model, ModelStatic } from 'sequelize'
import { modelInternals } from '../sequelize/internals.js'

/** For how many statements the parts are kept. */
const MAX_KEPT = 1_000

/** The SQL before, between and after the placeholders, by the SQL with them. */
const parts = new Map<string, readonly string[]>()

/** A name, or a placeholder. */
const NAME_OR_PLACEHOLDER = /(`[^`]*`)|\$\d+/g

function partsOf(sql: string): readonly string[] {
  const known = parts.get(sql)
  if (known) return known
  const all: string[] = []
  let from = 0
  for (const { 0: found, 1: name, index } of sql.matchAll(NAME_OR_PLACEHOLDER)) {
    if (name !== undefined) continue
    all.push(sql.slice(from, index))
    from = index + found.length
  }
  all.push(sql.slice(from))
  if (parts.size >= MAX_KEPT) parts.clear()
  parts.set(sql, all)
  return all
}

/** The SQL with its values instead of its placeholders, in their order. */
export function withLiterals(model: ModelStatic<Model>, sql: string, values: readonly unknown[]): string {
  const { queryGenerator } = modelInternals(model)
  const [first = '', ...rest] = partsOf(sql)
  if (rest.length !== values.length) throw new Error(`${rest.length} placeholders for ${values.length} values: ${sql}`)
  return rest.reduce((before, after, index) => before + queryGenerator.escape(values[index]) + after, first)
}
