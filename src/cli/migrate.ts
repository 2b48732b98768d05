import { existsSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { meant } from '../core/options.js'
import { type Command, CommandError, type Several } from './command.js'
import { DEFAULT_MODULE } from './load-app.js'
import type { MigrateAction } from './migrate/action.js'
import { check, CHOICES, diff } from './migrate/diff.js'
import { baseline } from './migrate/baseline.js'
import { findDatabase } from './migrate/find-database.js'
import { actionLines, helpOfAction, optionLines, SHARED } from './migrate/help.js'
import { missingRights } from './migrate/missing-rights.js'
import { status } from './migrate/status.js'
import { up } from './migrate/up.js'

const ACTIONS: Readonly<Record<string, MigrateAction>> = { diff, check, up, status, baseline }

export const migrate: Command = {
  usage: 'migrate [module] diff <name> | check | up | status | baseline',
  details: `Migrates the database of the app that the module creates. Its models are not compared with their tables. Without a module: ${DEFAULT_MODULE}.
${actionLines(ACTIONS)}
sequitur migrate diff --help lists the options of diff, and so on. All actions have these:
${optionLines(SHARED)}`,
  actions: Object.fromEntries(Object.entries(ACTIONS).map(([name, action]) => [name, helpOfAction(name, action)])),
  options: ['dir', 'database', 'until', 'scratch', ...CHOICES],
  several: CHOICES,
  flags: ['strict', 'back'],
  run,
}

async function run(
  given: readonly string[],
  options: Readonly<Record<string, string>>,
  flags: ReadonlySet<string>,
  several: Several,
): Promise<number> {
  const [first = '', ...others] = given
  const [module, name, ...words] = Object.hasOwn(ACTIONS, first) ? [DEFAULT_MODULE, ...given] : [first, ...others]
  const action = actionOf(name, module)
  for (const option of [...Object.keys(options), ...Object.keys(several), ...flags])
    if (![...SHARED, ...action.options].includes(option))
      throw new CommandError(`sequitur migrate ${name} has no option '--${option}'.`)
  const database = await findDatabase(module, options['database'])
  const directory = options['dir'] ?? folderOf(module)
  const sources = module.endsWith('.ts') ? dirname(module) : dirname(DEFAULT_MODULE)
  return action.run({ database, directory, sources, words, options, several, flags }).catch((error: unknown) => {
    throw missingRights(name ?? '', error)
  })
}

function actionOf(name: string | undefined, module: string): MigrateAction {
  const action = name !== undefined && Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
  if (action) return action
  const names = Object.keys(ACTIONS)
  // `migrate dif add-power`: the first word is no module.
  const wrong = name !== undefined && (existsSync(module) || extname(module) !== '') ? name : module
  if (name !== undefined || (module !== '' && !existsSync(module)))
    throw new CommandError(`sequitur migrate has no '${wrong}'. ${meant(wrong, names)}`)
  throw new CommandError(`Name what to do: sequitur migrate ${names.join(', ')}.`)
}

const FOLDER = 'migrations'

/** That of the project, or of the module's folder, as in what is compiled. */
function folderOf(module: string): string {
  const beside = join(dirname(module), FOLDER)
  return !existsSync(FOLDER) && existsSync(beside) ? beside : FOLDER
}
