import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { messageOf } from '../core/to-error.js'
import { packageManager } from '../core/package-manager.js'
import { type Command, CommandError, refuseMoreWords } from './command.js'
import { dockerfileFor } from './dockerfile.js'
import { DEPENDENCIES, PACKAGE_ROOT, projectManifest } from './project-manifest.js'

/** A project that works as it is. Its files with `dot.` before their names are hidden ones, which npm would not pack, or would read. */
const TEMPLATE = fileURLToPath(new URL('template/', PACKAGE_ROOT))
/** The name of the project in the template. */
const PLACEHOLDER = 'my-api'

export const newProject: Command = {
  usage: 'new <name>',
  summary: 'creates a project',
  details: `Creates a folder with an app: a model, a controller, a migration, tests, and a Dockerfile. Installs nothing.
The name is that of the folder and of the package: lower-case letters, digits, '-', '_' and '.'.`,
  options: [],
  run,
}

async function run(words: readonly string[]): Promise<number> {
  const [name] = words
  if (name === undefined) throw new CommandError('Name the project: sequitur new my-api')
  refuseMoreWords(words, 1, 'sequitur new')
  refuseName(name)
  refuseUsedFolder(name)
  const files = projectFiles(name)
  for (const [path, text] of files) write(join(name, path), text)
  process.stdout.write(`Created ${name} with ${files.length} files.\n\n${nextCommands(name, packageManager().name)}`)
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

/** The paths of the files in the project, and their texts. */
function projectFiles(name: string): [path: string, text: string][] {
  const paths = readdirSync(TEMPLATE, { recursive: true, encoding: 'utf8' })
  const files = paths.filter((path) => statSync(join(TEMPLATE, path)).isFile())
  return [
    ['package.json', `${JSON.stringify(projectManifest(name), undefined, 2)}\n`],
    ...files.map((path): [string, string] => [
      join(dirname(path), basename(path).replace(/^dot\./, '.')),
      templateText(path).replaceAll(PLACEHOLDER, name),
    ]),
  ]
}

function templateText(path: string): string {
  const text = readFileSync(join(TEMPLATE, path), 'utf8')
  return path === 'Dockerfile' ? dockerfileFor(packageManager().name, text) : text
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  } catch (error) {
    throw new CommandError(`Cannot write ${path}: ${messageOf(error)}`)
  }
}

function nextCommands(name: string, manager: string): string {
  return `Next:
  cd ${name}
  ${manager} install
  ${manager} run migrate    # creates the tables in ${name}.sqlite; toolkit_url names another database
  ${manager} run dev        # http://127.0.0.1:8000/docs
  ${manager} test
`
}
