import type { Help } from '../command.js'
import { DEFAULT_MODULE } from '../load-app.js'
import type { MigrateAction } from './action.js'

/** How an option is written, and what it says. */
const OPTIONS: Readonly<Record<string, readonly [written: string, meaning: string]>> = {
  rename: ['--rename hero.age:years', 'the column has a new name; also a table: --rename hero:heroes'],
  drop: [
    '--drop hero.age',
    'the column is deleted, in a file whose name ends in -contract; also a table, an index, a constraint, an enum type, a default: --drop hero.age.default, and NOT NULL: --drop hero.age.not-null',
  ],
  new: ['--new hero.years', 'it is another column than the one that is in the database only; also a table'],
  backfill: [
    `--backfill hero.power="'none'"`,
    'the value, as SQL, of rows that are there, for a column that is NOT NULL',
  ],
  cast: [
    '--cast hero.age="age::integer"',
    'the new value, as SQL, for a type that does not hold all values; without it that of the database',
  ],
  scratch: ['--scratch <url>', 'compares with an empty database, in which all migrations are applied first'],
  back: ['--back', 'writes the way back, too, into the folder migrations/back, where it loses nothing'],
  strict: ['--strict', 'lists what is in the database and in no model'],
  until: ['--until 0007-hero', 'the last one that is marked. Default: all of them'],
  dir: ['--dir <folder>', 'the folder of the migrations. Default: migrations, or the one in the folder of the module'],
  database: ['--database <number>', 'which of several databases of the app, from 1 (default)'],
}

/** The options of every action. */
export const SHARED: readonly string[] = ['dir', 'database']

/** The names of the actions, each with what it does. */
export function actionLines(actions: Readonly<Record<string, MigrateAction>>): string {
  const width = Math.max(...Object.keys(actions).map((name) => name.length))
  return Object.entries(actions)
    .map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
    .join('\n')
}

export function optionLines(names: readonly string[]): string {
  const known = names.flatMap((name) => (OPTIONS[name] ? [OPTIONS[name]] : []))
  const width = Math.max(...known.map(([written]) => written.length))
  return known.map(([written, meaning]) => `  ${written.padEnd(width)}  ${meaning}`).join('\n')
}

export function helpOfAction(name: string, { argument, summary, options }: MigrateAction): Help {
  return {
    usage: `migrate [module] ${name}${argument === undefined ? '' : ` ${argument}`}`,
    details: `${summary.replace(/^./, (first) => first.toUpperCase())}. Without a module: ${DEFAULT_MODULE}.\n${optionLines([...options, ...SHARED])}`,
  }
}
