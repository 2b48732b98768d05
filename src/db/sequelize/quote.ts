import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { queryGeneratorOf } from './internals.js'

/** A column of a model as SQL: `"Hero"."secret_identity"`, or of a joined one under its alias: `"team->city"."name"`. */
export function quoted(model: ModelStatic<Model>, attribute: string, path: readonly string[] = []): string {
  const generator = queryGeneratorOf(model.sequelize as Sequelize) // a model that is queried is mapped
  const table = path.length > 0 ? path.join('->') : model.name
  const field = model.getAttributes()[attribute]?.field ?? attribute
  return `${generator.quoteIdentifier(table)}.${generator.quoteIdentifier(field)}`
}

/** Doubles each `$` that Sequelize would take for a placeholder: not that of `US$5`, of which it would leave two. */
export function escapeDollars(text: string): string {
  return text.replace(/\B\$(\$|\w+)/g, (match, next: string) => (next === '$' ? '$$$$' : `$${match}`))
}
