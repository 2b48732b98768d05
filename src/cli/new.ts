import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { packageManager } from '../core/package-manager.js'
import { type Command, CommandError, refuseMoreWords } from './command.js'
import { type DatabaseChoice, readChoices } from './new/choices.js'
import { projectFiles } from './new/files.js'
import { DEPENDENCIES } from './new/manifest.js'
import { writeText } from './user-files.js'

export const newProject: Command = {
  usage: 'new <name> [--database sqlite|postgres|mysql] [--auth none|cookie|bearer] [--client]',
  details: `Creates a folder with an app: a model, a controller, a migration, tests, a Dockerfile, a CI workflow and settings of VS Code. Installs nothing.
The name is that of the folder and of the package: lower-case letters, digits, '-', '_' and '.'.
  --database  sqlite (default): a file. postgres, mysql: the server of a compose.yaml, on which each test has a database of its own.
  --auth      none (default). cookie, bearer: accounts with passwords, and logins by a session cookie or by a token.
  --client    an npm script that generates a typed client, and a page that uses it.`,
  options: ['database', 'auth'],
  flags: ['client'],
  run,
}

async function run(
  words: readonly string[],
  options: Readonly<Record<string, string>>,
  flags: ReadonlySet<string>,
): Promise<number> {
  const [name] = words
  if (name === undefined) throw new CommandError('Name the project: sequitur new my-api')
  refuseMoreWords(words, 1, 'sequitur new')
  refuseName(name)
  const choices = readChoices(options, flags)
  refuseUsedFolder(name)
  const manager = packageManager().name
  const files = projectFiles(name, choices, manager)
  for (const [path, text] of files) writeText(join(name, path), text)
  process.stdout.write(`Created ${name} with ${files.size} files.\n\n${nextCommands(name, choices.database, manager)}`)
  return 0
}

/** npm has more rules: about the length, and about names of its own. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,213}$/
const RESERVED = ['node_modules', 'favicon.ico', ...DEPENDENCIES]

function refuseName(name: string): void {
  if (!NAME.test(name))
    throw new CommandError(
      `'${name}' cannot be the name of a package. Write lower-case letters, digits, '-', '_' and '.', and begin with a letter or a digit: sequitur new my-api`,
    )
  if (RESERVED.includes(name)) throw new CommandError(`'${name}' is the name of another package. Write another one.`)
}

function refuseUsedFolder(name: string): void {
  if (!existsSync(name)) return
  if (!statSync(name).isDirectory()) throw new CommandError(`${name} exists, and is not a folder. Write another name.`)
  if (readdirSync(name).length > 0)
    throw new CommandError(`The folder ${name} exists, and is not empty. Write another name.`)
}

function nextCommands(name: string, { name: database }: DatabaseChoice, manager: string): string {
  const start =
    database === 'sqlite' ? '' : '  docker compose up --wait    # or set toolkit_url and test_url: see .env.example\n'
  const tables =
    database === 'sqlite' ? `the tables in ${name}.sqlite; toolkit_url names another database` : 'the tables'
  return `Next:
  cd ${name}
  ${manager} install
${start}  ${manager} run migrate    # creates ${tables}
  ${manager} run dev        # http://127.0.0.1:8000/docs
  ${manager} test
`
}
