import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Catalog, DatabaseKind, Table } from '../../db/catalog/catalog.js'
import { displayOf } from '../difference/change.js'
import { fileText, memberTexts } from './class-text.js'
import { existingClasses } from './existing-classes.js'
import { adviceOfIndex, extendedFile, extendedIndex } from './extended-file.js'
import { classesOf, hasColumns, indexText } from './generated-files.js'
import type { AssociatedClass } from './model-class.js'
import { type ClassInFile, type ClassOptions, isWritable, tableKey } from './model-classes.js'

/** What was written, and what people must know. */
export interface WrittenModels {
  readonly files: readonly WrittenFile[]
  /** Sentences about what was left out. */
  readonly notes: readonly string[]
}

export interface WrittenFile {
  readonly path: string
  readonly state: 'new' | 'extended' | 'unchanged'
  /** The members that were added to an existing class. */
  readonly added: readonly string[]
}

interface WriteOptions extends Pick<ClassOptions, 'keepNames'> {
  /** `hero`, `museum.hero`. All tables if undefined; those that have a class are among them in any case. */
  readonly tables?: readonly string[]
}

/**
 * Writes the classes of the tables of a catalog into a folder: a file for each new class, and `index.ts`. A file that exists keeps everything that it has:
 * columns that its class lacks are added to it, with their associations.
 *
 * @throws what the file system throws.
 * @example
 * writeModels(await readCatalog(sequelize), 'src/models')
 */
export function writeModels(
  catalog: Catalog,
  folder: string,
  { keepNames = false, tables }: WriteOptions = {},
): WrittenModels {
  mkdirSync(folder, { recursive: true })
  const found = classesInFolder(folder)
  const isChosen = (table: Table) => !tables || tables.includes(displayOf(table)) || found.existing.has(tableKey(table))
  const classes = classesOf({ ...catalog, tables: catalog.tables.filter(isChosen) }, { keepNames, ...found })
  const files = new Map(classes.map((one) => [one.name, one.file]))
  const fileOf = (name: string) => files.get(name) ?? name
  const isKnown = (one: AssociatedClass) => one.existing !== undefined
  const added = classes.filter((one) => !isKnown(one))
  const written = [
    ...added.map((one) => writeNew(join(folder, `${one.file}.ts`), fileText(one, fileOf))),
    ...classes.filter(isKnown).map((one) => extend(join(folder, `${one.file}.ts`), one, fileOf)),
  ].toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const index = writeIndex(join(folder, 'index.ts'), classes)
  return {
    files: [...written, ...index.files],
    notes: [...index.notes, ...tablesLeftOut(catalog, tables), ...classes.flatMap(notesOf)],
  }
}

/** The classes of tables in the files of a folder, and the files without any. */
function classesInFolder(folder: string): Required<Pick<ClassOptions, 'existing' | 'files'>> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
  const found = names.map((name) => ({
    file: name.slice(0, -'.ts'.length),
    classes: existingClasses(readFileSync(join(folder, name), 'utf8')),
  }))
  const entries = found.flatMap(({ file, classes }) =>
    classes.map((existing): [string, ClassInFile] => [tableKey(existing.table), { existing, file }]),
  )
  return { existing: new Map(entries), files: found.flatMap(({ file, classes }) => (classes.length === 0 ? file : [])) }
}

function writeNew(path: string, text: string): WrittenFile {
  writeFileSync(path, text)
  return { path, state: 'new', added: [] }
}

function extend(path: string, one: AssociatedClass, fileOf: (name: string) => string): WrittenFile {
  const text = readFileSync(path, 'utf8')
  // Read again: another class of the file may have been extended.
  const existing = existingClasses(text).find(({ name }) => name === one.name)
  const members = memberTexts(one, fileOf)
  if (!existing || members.length + one.newIndexes.length === 0) return { path, state: 'unchanged', added: [] }
  const sameFile = `./${one.file}.js`
  const needed = members.map((member) => ({
    ...member,
    imports: member.imports.filter(({ from }) => from !== sameFile),
  }))
  writeFileSync(path, extendedFile(text, existing, needed, one.newIndexes))
  const indexes = one.newIndexes.map((index) => `an index of ${one.name} with ${index.at(-1)}`)
  return { path, state: 'extended', added: [...members.map(({ property }) => `${one.name}.${property}`), ...indexes] }
}

function writeIndex(path: string, classes: readonly AssociatedClass[]): WrittenModels {
  if (!existsSync(path)) return { files: [writeNew(path, indexText(classes))], notes: [] }
  const text = readFileSync(path, 'utf8')
  const extended = extendedIndex(text, classes)
  if (extended === undefined)
    return {
      files: [],
      notes: [
        adviceOfIndex(
          path,
          classes.map(({ name }) => name),
        ),
      ],
    }
  if (extended === text) return { files: [{ path, state: 'unchanged', added: [] }], notes: [] }
  writeFileSync(path, extended)
  return { files: [{ path, state: 'extended', added: [] }], notes: [] }
}

/** What is neither a table nor a view. */
const OTHERS: Readonly<Record<DatabaseKind, string>> = {
  postgres: 'foreign tables',
  sqlite: 'virtual tables',
  mysql: 'sequences',
  mariadb: 'sequences',
}

/** What has no class, of the tables that are wanted. */
function tablesLeftOut(catalog: Catalog, names: readonly string[] | undefined): string[] {
  const { kind, tables: all } = catalog
  const wanted = all.filter((table) => !names || names.includes(displayOf(table)))
  const views = wanted.filter((table) => table.kind === 'view' || table.kind === 'materialized view').map(displayOf)
  const others = wanted.filter((table) => table.kind === 'other').map(displayOf)
  return [
    ...wanted
      .filter((table) => table.kind === 'table' && !isWritable(kind, table.name))
      .map((table) => `Left out: the table ${displayOf(table)}, whose name Sequelize cannot write.`),
    ...wanted
      .filter((table) => table.kind === 'table' && isWritable(kind, table.name) && !hasColumns(catalog, table))
      .map((table) => `Left out: the table ${displayOf(table)}, which has no column that Sequelize can write.`),
    ...(others.length === 0 ? [] : [`Left out: ${OTHERS[kind]} have no classes: ${others.join(', ')}.`]),
    ...(views.length === 0 ? [] : [`Left out: views have no classes: ${views.join(', ')}.`]),
  ]
}

function notesOf({ name, notes, existing }: AssociatedClass): string[] {
  return existing ? [] : notes.map((note) => `${name}: ${note}`)
}
