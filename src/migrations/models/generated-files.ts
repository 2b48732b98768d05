import type { Catalog, Table } from '../../db/catalog/catalog.js'
import { withAssociations } from './associations.js'
import { fileText } from './class-text.js'
import { quoted } from './literals.js'
import type { AssociatedClass } from './model-class.js'
import { type ClassOptions, isWritable, modelClasses } from './model-classes.js'
import { isPackageTable } from './package-tables.js'

/** The classes for the tables of a catalog that are of the program, and that Sequelize can write. */
export function classesOf(catalog: Catalog, options: ClassOptions = {}): AssociatedClass[] {
  const tables = catalog.tables.filter(
    (table) =>
      table.kind === 'table' &&
      !isPackageTable(table) &&
      isWritable(catalog.kind, table.name) &&
      hasColumns(catalog, table),
  )
  return withAssociations(modelClasses({ ...catalog, tables }, options))
}

/** Whether Sequelize can read a column of the table. */
export function hasColumns({ kind }: Catalog, { columns }: Table): boolean {
  return columns.some(({ name }) => isWritable(kind, name))
}

/** The files of new classes, by their names: one for each class, and `index.ts` with the list of them. */
export function generatedFiles(classes: readonly AssociatedClass[]): Map<string, string> {
  const files = new Map(classes.map((one) => [one.name, one.file]))
  const fileOf = (name: string) => files.get(name) ?? name
  return new Map([
    ...classes.map((one): [string, string] => [`${one.file}.ts`, fileText(one, fileOf)]),
    ['index.ts', indexText(classes)],
  ])
}

/** The list of all models: `newLifespan(url, { models })`. */
export function indexText(classes: readonly Pick<AssociatedClass, 'name' | 'file'>[]): string {
  const imports = classes
    .toSorted((one, other) => (one.file < other.file ? -1 : 1))
    .map(({ name, file }) => `import { ${name} } from ${quoted(`./${file}.js`)}`)
  const names = classes.map(({ name }) => name)
  return [
    ...imports,
    '',
    '/** All models, in the order of their names. */',
    ...listText('export const models = [', names, ']'),
    '',
    ...listText('export { ', names, ' }'),
    '',
  ].join('\n')
}

const WIDTH = 120

function listText(open: string, names: readonly string[], close: string): string[] {
  const line = `${open}${names.join(', ')}${close}`
  return line.length <= WIDTH ? [line] : [open.trimEnd(), ...names.map((name) => `  ${name},`), close.trimStart()]
}
