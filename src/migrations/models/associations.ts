import type { ForeignKey } from '../../db/catalog/catalog.js'
import { objectText, quoted } from './literals.js'
import type { AssociatedClass, AssociationMember, ColumnMember, ModelClass } from './model-class.js'
import { tableKey } from './model-classes.js'
import { MEMBERS, Names } from './names.js'
import { camel, plural, singular, wordsOf } from './words.js'

/** A foreign key of one column between two classes. */
interface Link {
  readonly from: ModelClass
  readonly to: ModelClass
  readonly column: ColumnMember
  /** The property that it refers to; undefined for the primary key. */
  readonly targetKey: string | undefined
  /** The words of what it refers to, by its name: `support_rep_id` -> `support rep`. */
  readonly alias: readonly string[]
  /** Whether both classes are there, and neither says anything of the key: it is new, or was made in another way. */
  readonly isUnstated: boolean
  /** Whether `from` has another link to the same class, so that associations must name the column. */
  readonly isOneOfSeveral: boolean
}

/** Adds the associations of the foreign keys, with both of their sides. */
export function withAssociations(classes: readonly ModelClass[]): AssociatedClass[] {
  const links = linksOf(classes)
  const joins = joinsOf(classes, links)
  const drafts = [
    ...links.map(belongsTo),
    ...links.filter((link) => !joins.some((join) => join.isPure && join.links.includes(link))).map(hasOneOrMany),
    ...joins.flatMap(belongsToMany),
  ].filter(isNew)
  return classes.map((one) => ({
    ...one,
    targets: new Map(links.filter(({ from }) => from === one).map(({ column, to }) => [column.property, to.name])),
    associations: named(
      one,
      drafts.filter(({ owner }) => owner === one),
    ),
    newIndexes: links
      .filter(({ from, isUnstated }) => from === one && isUnstated)
      .flatMap(({ column }) => indexesOf(one, column.property)),
  }))
}

/** The index of a column that the class of the program lacks. */
function indexesOf({ indexes, existing }: ModelClass, property: string): (readonly string[])[] {
  if (existing?.indexes.options.includes(quoted(property))) return []
  return indexes.filter((members) => members.includes(`fields: [${quoted(property)}]`))
}

function linksOf(classes: readonly ModelClass[]): Link[] {
  const byTable = new Map(classes.map((one) => [tableKey(one.table), one]))
  const found = classes.flatMap((from) =>
    from.table.foreignKeys.flatMap((key) => {
      const to = byTable.get(tableKey(key.table))
      return to ? (linkOf(from, to, key) ?? []) : []
    }),
  )
  const first = found.filter((link) => found.find(({ column }) => column === link.column) === link)
  return first.map((link) => ({ ...link, isOneOfSeveral: isOneOfSeveral(first, link) }))
}

function linkOf(from: ModelClass, to: ModelClass, { columns, references }: ForeignKey): Link | undefined {
  const [name] = columns
  const column = from.columns.find((one) => one.column.name === name)
  const target = to.columns.find((one) => one.column.name === references[0])
  if (columns.length !== 1 || !column || !target) return undefined
  const isKey = to.key.length === 1 && to.key[0] === target.property
  const alias = aliasOf(column.column.name, target.column.name)
  const isUnstated = isUnstatedIn(from, to, column)
  return { from, to, column, targetKey: isKey ? undefined : target.property, alias, isUnstated, isOneOfSeveral: false }
}

function isUnstatedIn(
  { name, existing: own }: ModelClass,
  { existing: other }: ModelClass,
  column: ColumnMember,
): boolean {
  if (!own || !other || column.isNew) return false
  const property = quoted(column.property)
  const isOfOther = other.body.split('@').some((part) => part.includes(`=> ${name}`) && part.includes(property))
  const isStated = own.members.some((member) => member.property === column.property && member.isForeignKey)
  return !isStated && !isOfOther && !own.body.includes(property)
}

function isOneOfSeveral(links: readonly Link[], { from, to, column }: Link): boolean {
  // The column of a class of the program may lack @ForeignKey.
  return (
    !column.isNew ||
    from === to ||
    links.some((other) => other.from === from && other.to === to && other.column !== column)
  )
}

const KEY_WORDS: ReadonlySet<string> = new Set(['id', 'fk', 'uuid', 'key', 'ref'])

/** `author_id` -> `author`; `country_code`, which refers to `code` -> `country`. */
function aliasOf(column: string, target: string): readonly string[] {
  const words = wordsOf(column)
  const end = wordsOf(target)
  const short = words.length > 1 && end.length === 1 && words.at(-1) === end[0] ? words.slice(0, -1) : words
  while (short.length > 1 && KEY_WORDS.has(short.at(-1) ?? '')) short.pop()
  while (short.length > 1 && KEY_WORDS.has(short[0] ?? '')) short.shift()
  return short
}

/** An association of a class, with the names that it may have. */
interface Draft extends Omit<AssociationMember, 'property'> {
  readonly owner: ModelClass
  /** The foreign keys that it is made of. */
  readonly links: readonly Link[]
  readonly names: readonly string[]
}

// A class of the program has those that it had, and those that people have removed stay removed.
function isNew({ owner, links, names }: Draft): boolean {
  if (!owner.existing) return true
  if (names.some((name) => owner.existing?.without.has(name))) return false
  return links.some(({ from, to, column, isUnstated }) => column.isNew || !from.existing || !to.existing || isUnstated)
}

function named(owner: ModelClass, drafts: readonly Draft[]): AssociationMember[] {
  // The name of the class is that of its table in SQL, where SQLite does not tell `Employee` from `employee`.
  const names = new Names([
    ...MEMBERS,
    ...(owner.existing?.names ?? []),
    owner.name,
    ...owner.columns.map(({ property }) => property),
  ])
  return drafts.map(({ names: candidates, decorator, parameters, type, classes }) => ({
    property: names.take(...candidates),
    decorator,
    parameters,
    type,
    classes,
  }))
}

function belongsTo(link: Link): Draft {
  const { from, to, column, alias } = link
  return {
    owner: from,
    links: [link],
    names: [alias, to.words, [...wordsOf(column.property), ...to.words]].map(camel),
    decorator: 'BelongsTo',
    parameters: parametersOf(to, link, 'targetKey'),
    type: `NonAttribute<${to.name}${column.column.nullable ? ' | null' : ''}>`,
    classes: [to.name],
  }
}

function parametersOf(target: ModelClass, link: Link, keyOption: 'targetKey' | 'sourceKey'): string {
  const { column, targetKey, isOneOfSeveral } = link
  const key = quoted(column.property)
  // What the database does, which the column of a class of the program may not say.
  const actions = column.isNew ? [] : column.options.filter((option) => /^on(?:Delete|Update): /.test(option))
  const options = [...(targetKey === undefined ? [] : [`${keyOption}: ${quoted(targetKey)}`]), ...actions]
  if (options.length > 0) return `() => ${target.name}, ${objectText([`foreignKey: ${key}`, ...options])}`
  return isOneOfSeveral ? `() => ${target.name}, ${key}` : `() => ${target.name}`
}

function hasOneOrMany(link: Link): Draft {
  const { from, to, column, alias } = link
  const isOne = isUnique(link)
  const end = isOne ? singular(from.words) : plural(from.words)
  const isPlain = alias.join() === to.words.join() || !link.isOneOfSeveral
  const children = alias.join() === 'parent' ? [['children']] : []
  const qualified = [...alias, ...end]
  return {
    owner: to,
    links: [link],
    names: [
      ...children,
      ...(isPlain || from === to ? [end] : []),
      qualified,
      [...wordsOf(column.property), ...end],
    ].map(camel),
    decorator: isOne ? 'HasOne' : 'HasMany',
    parameters: parametersOf(from, link, 'sourceKey'),
    type: isOne ? `NonAttribute<${from.name} | null>` : `NonAttribute<${from.name}[]>`,
    classes: [from.name],
  }
}

function isUnique({ from, column }: Link): boolean {
  return (from.key.length === 1 && from.key[0] === column.property) || column.options.includes('unique: true')
}

/** A table whose primary key is two foreign keys. */
interface Join {
  readonly table: ModelClass
  readonly links: readonly [one: Link, other: Link]
  /** Whether its rows have nothing else, but for times. */
  readonly isPure: boolean
}

function joinsOf(classes: readonly ModelClass[], links: readonly Link[]): Join[] {
  return classes.flatMap((table) => {
    const [one, other, ...more] = links.filter(
      ({ from, column }) => from === table && table.key.includes(column.property),
    )
    if (!one || !other || more.length > 0 || table.key.length !== 2 || !table.table.primaryKey) return []
    if (one.targetKey !== undefined || other.targetKey !== undefined) return []
    const rest = table.columns.filter(({ property }) => !table.key.includes(property))
    return { table, links: [one, other], isPure: rest.every(({ type }) => type.includes('Date')) }
  })
}

function belongsToMany({ table, links: [one, other] }: Join): Draft[] {
  return [manyOf(table, one, other), manyOf(table, other, one)]
}

/** The rows that `away` refers to, from the class that `home` refers to. */
function manyOf(join: ModelClass, home: Link, away: Link): Draft {
  const keys = home.isOneOfSeveral ? `, ${quoted(home.column.property)}, ${quoted(away.column.property)}` : ''
  const target = away.to
  return {
    owner: home.to,
    links: [home, away],
    names: [plural(away.alias), plural(target.words), [...join.words, ...plural(target.words)]].map(camel),
    decorator: 'BelongsToMany',
    parameters: `() => ${target.name}, () => ${join.name}${keys}`,
    type: `NonAttribute<${target.name}[]>`,
    classes: [target.name, join.name],
  }
}
