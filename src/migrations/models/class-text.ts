import { commentLines, objectText, quoted } from './literals.js'
import type { AssociatedClass, AssociationMember, ColumnMember } from './model-class.js'

/** Characters of a line of a generated file. */
const WIDTH = 120

/** A member of a class, as text. */
export interface MemberText {
  readonly property: string
  /** The name of the column; undefined for an association. */
  readonly column?: string
  /** With its indentation, without the last line feed. */
  readonly text: string
  /** `sequelize-typescript` -> `Column`, by the names that its text uses. */
  readonly imports: readonly Import[]
}

export interface Import {
  readonly name: string
  readonly from: string
  readonly isType: boolean
}

const ofSequelize = (name: string): Import => ({ name, from: 'sequelize', isType: name !== 'literal' })
const ofDecorators = (name: string): Import => ({ name, from: 'sequelize-typescript', isType: false })

/** The members that a class of the program lacks, or all of a new one: its columns, then its associations. */
export function memberTexts(one: AssociatedClass, fileOf: (className: string) => string): MemberText[] {
  const ofClass = (name: string): Import[] =>
    name === one.name ? [] : [{ name, from: `./${fileOf(name)}.js`, isType: false }]
  return [
    ...one.columns
      .filter(({ isNew }) => isNew)
      .map((member) => columnText(member, one.targets.get(member.property), ofClass)),
    ...one.associations.map((member) => associationText(member, ofClass)),
  ]
}

function columnText(
  member: ColumnMember,
  target: string | undefined,
  ofClass: (name: string) => readonly Import[],
): MemberText {
  const { property, column, options, type, doc, isReadonly } = member
  const decorators = [...(target === undefined ? [] : [`@ForeignKey(() => ${target})`]), columnDecorator(options)]
  const declaration = `declare ${isReadonly ? 'readonly ' : ''}${property}: ${type}`
  const text = [...docText(doc), ...declarationLines(decorators, declaration, options)]
  return {
    property,
    column: column.name,
    text: text.map((line) => `  ${line}`).join('\n'),
    imports: [
      ...importsOfColumn(options, type),
      ...(target === undefined ? [] : [ofDecorators('ForeignKey'), ...ofClass(target)]),
    ],
  }
}

function importsOfColumn(options: readonly string[], type: string): Import[] {
  return [
    ofDecorators('Column'),
    ...(options.some((option) => option.startsWith('type: DataType.')) ? [ofDecorators('DataType')] : []),
    ...(options.some((option) => option.startsWith('defaultValue: literal(')) ? [ofSequelize('literal')] : []),
    ...(type.startsWith('CreationOptional<') ? [ofSequelize('CreationOptional')] : []),
  ]
}

function columnDecorator(options: readonly string[]): string {
  const [type = ''] = options
  return options.length === 1 ? `@Column(${type.slice('type: '.length)})` : `@Column(${objectText(options)})`
}

/** In one line, else with the decorators on lines of their own, else with a line for each option. */
function declarationLines(decorators: readonly string[], declaration: string, options: readonly string[]): string[] {
  const line = [...decorators, declaration].join(' ')
  const width = WIDTH - 2
  if (line.length <= width) return [line]
  const last = decorators.at(-1) ?? ''
  const before = decorators.slice(0, -1)
  if (last.length <= width || options.length === 1) return [...before, last, declaration]
  return [...before, '@Column({', ...options.map((option) => `  ${option},`), '})', declaration]
}

function docText(lines: readonly string[]): string[] {
  const [first, ...rest] = lines
  if (first === undefined) return []
  return rest.length === 0 && first.length < WIDTH - 12
    ? [`/** ${first} */`]
    : ['/**', ...lines.map((line) => ` * ${line}`), ' */']
}

function associationText(
  { property, decorator, parameters, type, classes }: AssociationMember,
  ofClass: (name: string) => readonly Import[],
): MemberText {
  const lines = declarationLines([`@${decorator}(${parameters})`], `declare ${property}?: ${type}`, [''])
  return {
    property,
    text: lines.map((line) => `  ${line}`).join('\n'),
    imports: [ofDecorators(decorator), ofSequelize('NonAttribute'), ...classes.flatMap(ofClass)],
  }
}

/** The text of a file with one class. */
export function fileText(one: AssociatedClass, fileOf: (className: string) => string): string {
  const members = memberTexts(one, fileOf)
  const columns = members.filter(({ column }) => column !== undefined)
  const associations = members.filter(({ column }) => column === undefined)
  const parts = [columns, associations].filter(({ length }) => length > 0)
  const imports = [...members.flatMap((member) => member.imports), ...importsOfTable(one)]
  return [
    importLines(imports).join('\n'),
    '',
    [...docText(commentLines(one.table.comment ?? '')), ...one.notes.map((note) => `// ${note}`)],
    ...tableDecorator(one),
    `export class ${one.name} extends Base<${one.name}> {`,
    parts.map((part) => part.map(({ text }) => text).join('\n')).join('\n\n'),
    '}',
    '',
  ]
    .flat()
    .join('\n')
}

function importsOfTable({ indexes }: AssociatedClass): Import[] {
  const usesLiteral = indexes.flat().some((member) => member.includes('literal('))
  return [
    { name: 'Base', from: 'sequitur', isType: false },
    ofDecorators('Table'),
    ...(usesLiteral ? [ofSequelize('literal')] : []),
  ]
}

const PACKAGES = ['sequitur', 'sequelize', 'sequelize-typescript']

/** Import statements: those of packages first, names in order. */
export function importLines(imports: readonly Import[]): string[] {
  const modules = [...new Set(imports.map(({ from }) => from))]
  const files = modules.filter((from) => !PACKAGES.includes(from)).toSorted()
  return [...PACKAGES.filter((from) => modules.includes(from)), ...files].map((from) =>
    importLine(
      from,
      imports.filter((one) => one.from === from),
    ),
  )
}

export function importLine(from: string, imports: readonly Import[]): string {
  const byName = new Map(imports.map((one) => [one.name, one]))
  const sorted = [...byName.values()].toSorted((one, other) => compareNames(one.name, other.name))
  const areTypes = sorted.every(({ isType }) => isType)
  const names = sorted.map(({ name, isType }) => (isType && !areTypes ? `type ${name}` : name))
  const line = `import ${areTypes ? 'type ' : ''}{ ${names.join(', ')} } from ${quoted(from)}`
  return line.length <= WIDTH ? line : `import {\n${names.map((name) => `  ${name},\n`).join('')}} from ${quoted(from)}`
}

function compareNames(one: string, other: string): number {
  return one.toLowerCase() < other.toLowerCase() ? -1 : 1
}

function tableDecorator({ table, timestamps, underscored, indexes }: AssociatedClass): string[] {
  const options = [
    `tableName: ${quoted(table.name)}`,
    ...(table.schema === undefined ? [] : [`schema: ${quoted(table.schema)}`]),
    ...(timestamps ? [] : ['timestamps: false']),
    ...(underscored ? ['underscored: true'] : []),
  ]
  const inLine = indexes.map(objectText)
  const indexText = `indexes: [${inLine.join(', ')}]`
  const all = indexes.length === 0 ? options : [...options, indexText]
  const line = `@Table(${objectText(all)})`
  if (line.length <= WIDTH) return [line]
  const isShort = indexText.length + 3 <= WIDTH && indexes.length === 1
  const rest = isShort ? [`  ${indexText},`] : ['  indexes: [', ...indexes.flatMap(indexLines), '  ],']
  return ['@Table({', ...options.map((option) => `  ${option},`), ...(indexes.length > 0 ? rest : []), '})']
}

function indexLines(members: readonly string[]): string[] {
  const line = `    ${objectText(members)},`
  return line.length <= WIDTH ? [line] : ['    {', ...members.map((member) => `      ${member},`), '    },']
}
