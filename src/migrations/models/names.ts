import { Model } from 'sequelize-typescript'
import { camel, pascal, singular, wordsOf } from './words.js'

/** Hands out names, each once. Names that differ only by case count as one: so do files on many disks. */
export class Names {
  readonly #taken: Set<string>

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set([...taken].map((name) => name.toLowerCase()))
  }

  /** The first of the candidates that is free; else the last one with a number. */
  take(...candidates: readonly string[]): string {
    const name = candidates.find((one) => !this.has(one)) ?? this.#numbered(candidates.at(-1) ?? '')
    this.#taken.add(name.toLowerCase())
    return name
  }

  has(name: string): boolean {
    return this.#taken.has(name.toLowerCase())
  }

  #numbered(name: string): string {
    let number = 2
    while (this.has(`${name}${number}`)) number++
    return `${name}${number}`
  }
}

const PREFIX = /^(?:tbl|tb|t)[\s_-]{1,9}/i

/** The words of a class for a table: `tbl_order_items` -> `order item`. */
export function classWords(table: string): readonly string[] {
  const words = singular(wordsOf(table.replace(PREFIX, '')))
  return words.length > 0 ? words : wordsOf(table)
}

/** The candidates for the name of a class, the best one first. */
export function classNames(table: string, schema?: string): string[] {
  const words = classWords(table)
  const name = startingWithLetter(pascal(words), 'Table')
  const qualified = schema === undefined ? [] : [startingWithLetter(pascal([...wordsOf(schema), ...words]), 'Table')]
  return [...(isReserved(name) ? [] : [name]), ...qualified, `${name}Model`]
}

// Of TypeScript and of what the files use; as names of files, some of Windows; `Index`, because index.ts lists the models.
const RESERVED = `
  Array BigInt Boolean Buffer Date Error Function Map Number Object Promise Proxy Reflect RegExp Set String Symbol
  Record Readonly Partial Math Json Intl Atomics Undefined Infinity NaN Arguments Eval
  Base Table Column DataType ForeignKey BelongsTo BelongsToMany HasMany HasOne Model
  CreationOptional NonAttribute Literal Models Index
  Con Prn Aux Nul Com1 Com2 Com3 Com4 Com5 Com6 Com7 Com8 Com9 Lpt1 Lpt2 Lpt3 Lpt4 Lpt5 Lpt6 Lpt7 Lpt8 Lpt9
`
  .trim()
  .split(/\s+/)

function isReserved(name: string): boolean {
  return RESERVED.some((reserved) => reserved.toLowerCase() === name.toLowerCase())
}

/** The names that a property of a model must not have: those of Sequelize's own members, and of every object. */
export const MEMBERS: readonly string[] = [...membersOf(Model.prototype), 'dataValues', 'isNewRecord', 'then']

function membersOf(prototype: object | null): string[] {
  if (prototype === null) return []
  return [...Object.getOwnPropertyNames(prototype), ...membersOf(Object.getPrototypeOf(prototype))]
}

/** The candidates for the property of a column, the best one first. */
export function propertyNames(column: string): string[] {
  const name = startingWithLetter(camel(wordsOf(column)), 'column')
  return [name, `${name}Value`]
}

/** With `keepNames`: the property has the name of the column, where that is a name in TypeScript. */
export function keptNames(column: string): string[] {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(column) ? [column, `${column}_value`] : propertyNames(column)
}

function startingWithLetter(name: string, prefix: string): string {
  return /^\p{L}/u.test(name) ? name : `${prefix}${name}`
}

/** The name of the file of a class, without its extension: `OrderItem` -> `order-item`. */
export function fileOf(className: string): string {
  return wordsOf(className).join('-')
}
