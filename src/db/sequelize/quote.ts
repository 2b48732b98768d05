import type { Model, ModelStatic } from 'sequelize'
import { queryGeneratorOf, sequelizeOf } from './internals.js'

/** A column of a model as SQL, `"Hero"."secret_identity"`, or of a joined model under its alias, `"team->city"."name"`. */
export function quoted(model: ModelStatic<Model>, attribute: string, path: readonly string[] = []): string {
  const generator = queryGeneratorOf(sequelizeOf(model))
  const table = path.length > 0 ? path.join('->') : model.name
  const field = model.getAttributes()[attribute]?.field ?? attribute
  return `${generator.quoteIdentifier(table)}.${generator.quoteIdentifier(field)}`
}

/** Doubles each `$` that Sequelize would read as a placeholder. Not in `US$5`: it reads none there, and would keep both. */
export function escapeDollars(sql: string): string {
  return sql.replace(/\B\$(\$|\w+)/g, (match, next: string) => (next === '$' ? '$$$$' : `$${match}`))
}
