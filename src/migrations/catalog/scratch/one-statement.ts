/** A table that Sequelize creates. */
interface CreatedTable {
  /** As Sequelize quotes it. */
  readonly quoted: string
  readonly columns: readonly string[]
  /** The names of its indexes, in the order of their statements. */
  readonly indexes: readonly string[]
}

/**
 * Sequelize adds each index by a statement, which takes MySQL and MariaDB as long as the table itself. In the statement of the table it is for free.
 *
 * @param statements that of the table, and those of its indexes.
 * @example
 * inOneStatement(['CREATE TABLE IF NOT EXISTS `hero` (`id` INTEGER);', 'ALTER TABLE `hero` ADD INDEX `hero_id` (`id`)'], …)
 * // ['CREATE TABLE IF NOT EXISTS `hero` (INDEX `hero_id` (`id`), `id` INTEGER);']
 */
export function inOneStatement(statements: readonly string[], table: CreatedTable): readonly string[] {
  const [create = '', ...others] = statements
  const [begin, add] = [`CREATE TABLE IF NOT EXISTS ${table.quoted} (`, `ALTER TABLE ${table.quoted} ADD `]
  if (!create.startsWith(begin) || others.length !== table.indexes.length) return statements
  const canBeWithin = (statement: string, place: number) =>
    statement.startsWith(add) && !isNamedByServer(table.indexes[place] ?? '', table.columns)
  const within = others.filter(canBeWithin).map((statement) => `${statement.slice(add.length)}, `)
  const after = others.filter((statement, place) => !canBeWithin(statement, place))
  return [begin + within.join('') + create.slice(begin.length), ...after]
}

const { compare } = new Intl.Collator('en', { sensitivity: 'base' })

/**
 * The server gives the names of columns, `owner` or `owner_2`, to the keys that it adds by itself. In one statement it would choose another name, where
 * the statement of the index fails.
 */
function isNamedByServer(index: string, columns: readonly string[]): boolean {
  const names = [index, index.replace(/_\d+$/, '')]
  return columns.some((column) => names.some((name) => compare(name, column) === 0))
}
