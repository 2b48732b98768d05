import { parseArgs } from 'node:util'
import { meant } from '../core/options.js'

/** What `--help` shows. */
export interface Help {
  /** `openapi <module> [--out <file>]` */
  readonly usage: string
  /** The text below the usage. */
  readonly details: string
}

/** A subcommand of `sequitur`. */
export interface Command extends Help {
  /** What `--help` shows where one of these words is given: `sequitur migrate check --help`. */
  readonly actions?: Readonly<Record<string, Help>>
  /** The names of the options that take a value. */
  readonly options: readonly string[]
  /** Those of them that may be given several times: their values are joined by commas. */
  readonly lists?: readonly string[]
  /** Those of them that may be given several times, each with a value that may have commas: {@link Several}. */
  readonly several?: readonly string[]
  /** The names of the options that take none. */
  readonly flags?: readonly string[]
  /** The exit code of a failure. 1 unless it has another meaning for this command. */
  readonly failure?: number
  /** @returns the exit code. */
  run(
    words: readonly string[],
    options: Readonly<Record<string, string>>,
    flags: ReadonlySet<string>,
    several: Several,
  ): Promise<number>
}

/** The values of the options that may be given several times, by their names; of those that are given. */
export type Several = Readonly<Record<string, readonly string[]>>

/** The command cannot be executed. The message states what to write instead, a line for each thing. */
export class CommandError extends Error {}

/** The options of a command, by their kinds. */
type Options = Pick<Command, 'options' | 'lists' | 'several' | 'flags'>

export interface Arguments {
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, string>>
  readonly flags: ReadonlySet<string>
  readonly several: Several
}

/** The options of every command, which take no value. */
export const FLAGS = ['help', 'version']

/**
 * Reads the arguments of a command.
 *
 * @param where the command, for messages: `sequitur openapi`.
 * @throws CommandError for an unknown option, with the most similar one, and for an option without its value.
 */
export function readArguments(
  args: readonly string[],
  where: string,
  { options, lists = [], several = [], flags = [] }: Options,
): Arguments {
  const flagNames = [...flags, ...FLAGS]
  const { positionals, tokens } = parseArgs({
    args: [...args],
    options: { ...typesOf(options, 'string'), ...typesOf(flagNames, 'boolean') },
    allowPositionals: true,
    strict: false, // its errors name no similar option
    tokens: true,
  })
  const given = tokens.flatMap((token) => (token.kind === 'option' ? [token] : []))
  for (const option of given) if (!flagNames.includes(option.name)) refuseWrongOption(option, where, options, flagNames)
  return {
    words: positionals,
    options: valuesOf(
      given.filter(({ name }) => !several.includes(name) && !flagNames.includes(name)),
      lists,
    ),
    flags: new Set(given.map(({ name }) => name).filter((name) => flagNames.includes(name))),
    several: severalOf(given.filter(({ name }) => several.includes(name))),
  }
}

function severalOf(given: readonly GivenOption[]): Several {
  const values = new Map<string, string[]>()
  for (const { name, value = '' } of given) values.set(name, [...(values.get(name) ?? []), value])
  return Object.fromEntries(values)
}

function valuesOf(given: readonly GivenOption[], lists: readonly string[]): Readonly<Record<string, string>> {
  const values = new Map<string, string>()
  for (const { name, value = '' } of given) {
    const before = lists.includes(name) ? values.get(name) : undefined
    values.set(name, before === undefined ? value : `${before},${value}`)
  }
  return Object.fromEntries(values)
}

function typesOf<T extends 'string' | 'boolean'>(names: readonly string[], type: T): Record<string, { type: T }> {
  return Object.fromEntries(names.map((name) => [name, { type }]))
}

interface GivenOption {
  readonly name: string
  /** `--out` */
  readonly rawName: string
  readonly value?: string | undefined
}

function refuseWrongOption(
  { name, rawName, value }: GivenOption,
  where: string,
  names: readonly string[],
  flags: readonly string[],
): void {
  if (!names.includes(name)) throw new CommandError(unknownOption(where, rawName, [...names, ...flags]))
  if (value === undefined || value.startsWith('-'))
    throw new CommandError(`${where}: ${rawName} needs a value. ${helpOf(where)}`)
}

function unknownOption(where: string, name: string, names: readonly string[]): string {
  const known = names.map((option) => `--${option}`)
  return `${where} has no option '${name}'. ${meant(name, known)}`
}

/** `sequitur openapi --help shows how to write it.` */
function helpOf(where: string): string {
  return `${where} --help shows how to write it.`
}

/** @throws CommandError if there are more words than the command takes. */
export function refuseMoreWords(words: readonly string[], most: number, where: string): void {
  const surplus = words[most]
  if (surplus !== undefined) throw new CommandError(`${where}: '${surplus}' is one argument too many. ${helpOf(where)}`)
}
