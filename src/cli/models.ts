import { existsSync, statSync } from 'node:fs'
import { escapeForLog } from '../core/log-text.js'
import { meant } from '../core/options.js'
import { readCatalog } from '../db/catalog/read-catalog.js'
import { newLifespan } from '../db/lifespan.js'
import { type WrittenFile, type WrittenModels, writeModels } from '../migrations/models/write-models.js'
import { type Command, CommandError, refuseMoreWords } from './command.js'

export const models: Command = {
  usage: 'models [--url <url>] [--out <folder>] [--tables <name,name>] [--keep-names]',
  details: `Reads the tables of a database, and writes a class for each of them, with the associations of its foreign keys, and index.ts with the list of models.
A class that exists keeps all that it has: columns that it lacks are added to it. A comment '// without notes, secret' in it names columns that it is to lack.
  --url         the database. Default: toolkit_url, else DATABASE_URL
  --out         the folder of the classes. Default: src/models
  --tables      only these tables, and those that have a class
  --keep-names  properties have the names of their columns: first_name, and not firstName`,
  options: ['url', 'out', 'tables'],
  lists: ['tables'],
  flags: ['keep-names'],
  run,
}

async function run(
  words: readonly string[],
  { url, out = 'src/models', tables }: Readonly<Record<string, string>>,
  flags: ReadonlySet<string>,
): Promise<number> {
  refuseMoreWords(words, 0, 'sequitur models')
  const written = await write(
    url,
    out,
    tables?.split(',').map((name) => name.trim()),
    flags.has('keep-names'),
  )
  process.stdout.write(textOf(written, out))
  return 0
}

function write(
  url: string | undefined,
  out: string,
  tables: readonly string[] | undefined,
  keepNames: boolean,
): Promise<WrittenModels> {
  refuseFile(out)
  // Opened like this, a missing file of SQLite is an error, and is not created.
  return newLifespan(url).inspect(async ({ sequelize }) => {
    const catalog = await readCatalog(sequelize)
    refuseUnknownTables(tables, catalog.tables)
    return writeModels(catalog, out, { keepNames, ...(tables ? { tables } : {}) })
  })
}

function refuseUnknownTables(
  wanted: readonly string[] | undefined,
  tables: readonly { readonly schema?: string; readonly name: string }[],
): void {
  const names = tables.map(({ schema, name }) => (schema === undefined ? name : `${schema}.${name}`))
  const unknown = wanted?.find((name) => !names.includes(name))
  if (unknown !== undefined) throw new CommandError(`The database has no table '${unknown}'. ${meant(unknown, names)}`)
  if (names.length === 0) throw new CommandError('The database has no tables.')
}

function refuseFile(out: string): void {
  if (out === '' || out.endsWith('.ts') || (existsSync(out) && !statSync(out).isDirectory()))
    throw new CommandError(`--out is '${out}'. Name a folder: --out src/models`)
}

function textOf({ files, notes }: WrittenModels, out: string): string {
  const changed = files.filter(({ state }) => state !== 'unchanged')
  const lines = changed.map(lineOf)
  const rest = files.length - changed.length
  if (rest > 0) lines.push(`${rest === 1 ? '1 file' : `${rest} files`} in ${out}: nothing to add`)
  return [...lines, ...notes].map((line) => `${escapeForLog(line)}\n`).join('')
}

function lineOf({ path, state, added }: WrittenFile): string {
  if (state === 'new') return `Wrote ${path}`
  return added.length === 0 ? `Added to ${path}` : `Added to ${path}: ${added.join(', ')}`
}
