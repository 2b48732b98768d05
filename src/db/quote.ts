import type { Model, ModelStatic, Sequelize } from 'sequelize'

interface QueryGenerator {
  quoteIdentifier(name: string): string
  quote(item: unknown, parent?: unknown, connector?: string): string
}

/** What writes Sequelize's SQL; its types leave it out. */
export function queryGeneratorOf(sequelize: Sequelize): QueryGenerator {
  return (sequelize.getQueryInterface() as unknown as { queryGenerator: QueryGenerator }).queryGenerator
}

/** A column of a model as SQL: `"Hero"."secret_identity"`, or of a joined one under its alias: `"team->city"."name"`. */
export function quoted(model: ModelStatic<Model>, attribute: string, path: readonly string[] = []): string {
  const generator = queryGeneratorOf(model.sequelize as Sequelize) // a model that is queried is mapped
  const table = path.length > 0 ? path.join('->') : model.name
  const field = model.getAttributes()[attribute]?.field ?? attribute
  return `${generator.quoteIdentifier(table)}.${generator.quoteIdentifier(field)}`
}
