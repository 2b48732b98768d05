import { type CountOptions, type FindOptions, literal, type Model, type ModelStatic } from 'sequelize'
import { type Find, joinsMany, mentionsOf, neededIncludes } from './find.js'
import { quoted } from '../sequelize/quote.js'

/** How many rows of the model a statement has, whatever they are joined to. */
export async function countRows({ model, options, joins }: Find): Promise<number> {
  const mentioned = mentionsOf(options.where)
  const include = neededIncludes(joins, mentioned)
  const many = joinsMany(joins, mentioned)
  const counted = { ...whatIsCounted(options), ...(include.length > 0 ? { include } : {}) }
  if (many && model.primaryKeyAttributes.length > 1) return countKeys(model, counted)
  return model.count({ ...counted, distinct: many })
}

function whatIsCounted({ where, paranoid, transaction, logging }: FindOptions): CountOptions {
  const given = Object.entries({ where, paranoid, transaction, logging })
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

// Sequelize counts the first column of a key, which alone may be the same in many rows.
async function countKeys(model: ModelStatic<Model>, options: CountOptions): Promise<number> {
  const total = literal(`count(DISTINCT ${distinctKey(model)})`)
  const ofTotalOnly = { attributes: [[total, 'total']], raw: true, includeIgnoreAttributes: false } as FindOptions
  const rows: unknown[] = await model.findAll({ ...options, ...ofTotalOnly })
  return Number((rows[0] as { total: unknown }).total)
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
