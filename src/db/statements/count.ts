import {
  type CountOptions,
  type FindAttributeOptions,
  type FindOptions,
  literal,
  type Model,
  type ModelStatic,
} from 'sequelize'
import { type Find, joinsMany, mentionsOf, neededIncludes } from './find.js'
import { quoted } from '../sequelize/quote.js'

/** The number of rows of the model in the result. A row that is joined to several others counts once. */
export async function countRows({ model, options, joins }: Find): Promise<number> {
  const isMentioned = mentionsOf(options.where)
  const include = neededIncludes(joins, isMentioned)
  const isMany = joinsMany(joins, isMentioned)
  const counted = { ...countOptions(options), ...(include.length > 0 ? { include } : {}) }
  // With `await`, the stack of an error, or of a query that is too many, leads to the caller.
  if (isMany && model.primaryKeyAttributes.length > 1) return await countKeys(model, counted)
  return await model.count({ ...counted, distinct: isMany })
}

function countOptions({ where, paranoid, transaction, logging }: FindOptions): CountOptions {
  const options = Object.entries({ where, paranoid, transaction, logging })
  return Object.fromEntries(options.filter(([, value]) => value !== undefined))
}

// Sequelize counts the distinct values of the first column of a composite key, which may be the same in many rows.
async function countKeys(model: ModelStatic<Model>, options: CountOptions): Promise<number> {
  const attributes: FindAttributeOptions = [[literal(`count(DISTINCT ${distinctKey(model)})`), 'total']]
  const totalOnly = { attributes, raw: true, includeIgnoreAttributes: false }
  const rows: unknown[] = await model.findAll({ ...options, ...totalOnly })
  return Number((rows[0] as { total: unknown }).total) // raw rows have the names of `attributes`
}

function distinctKey(model: ModelStatic<Model>): string {
  const columns = model.primaryKeyAttributes.map((name) => quoted(model, name))
  switch (model.sequelize?.getDialect()) {
    case 'postgres':
      return `(${columns.join(', ')})`
    case 'sqlite':
      return columns.map((column) => `quote(${column})`).join(` || ',' || `)
    default:
      return columns.join(', ')
  }
}
