import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { escapeForLog } from '../../core/log-text.js'
import type { Choices } from '../../migrations/difference/choices.js'
import type { Difference } from '../../migrations/difference/difference.js'
import { expandAndContract } from '../../migrations/plan/advice.js'
import type { Compared, PlannedMigration } from '../../migrations/plan/plan-migration.js'
import type { PlannedFile, PlannedStep } from '../../migrations/plan/planned.js'
import { CommandError } from '../command.js'
import { tableOf } from '../table.js'
import { readText, writeNew } from '../user-files.js'
import type { MigrateAction, Migrating } from './action.js'
import { fileNameOf } from './file-name.js'
import { decideRenames } from './renames.js'

/** Options that may be given several times. */
export const CHOICES = ['rename', 'drop', 'new', 'backfill', 'cast'] as const satisfies readonly (keyof Choices)[]

export const diff: MigrateAction = {
  summary:
    'writes the migration that leads from the database to the models. The database must be at its newest migration',
  argument: '<name>',
  options: [...CHOICES, 'scratch', 'strict', 'back'],
  async run(migrating) {
    const { words, options, flags } = migrating
    const name = nameOf(words)
    await refusePending(migrating)
    return compare(migrating, async (both) => {
      const choices = await decideRenames(both, await choicesOf(migrating))
      const planned = await planFor(both, choices)
      const file = await fileNameOf(migrating.directory, name)
      const paths = planned.files.map((one) => pathOf(migrating.directory, file, one))
      for (const [index, one] of planned.files.entries()) writeNew(paths[index] ?? '', await textOf(both, one))
      process.stdout.write(reportOf(planned, paths, flags.has('strict'), options['scratch']))
      if (flags.has('back'))
        process.stdout.write(await writeBack(both, planned, join(migrating.directory, 'back', `${file}.ts`)))
      return 0
    })
  },
}

/** Exits with 1 if the models need a migration. */
export const check: MigrateAction = {
  summary: 'exits with 1 if the models need a migration; its options are answers, as those of diff',
  options: [...CHOICES, 'scratch', 'strict'],
  async run(migrating) {
    const { words, flags } = migrating
    if (words.length > 0) throw new CommandError(`sequitur migrate check takes no name.`)
    await refusePending(migrating)
    return compare(migrating, async (both) => {
      const planned = await planFor(both, await choicesOf(migrating))
      const isSame = planned.files.length + planned.byHand.length === 0
      process.stdout.write(
        isSame ? SAME : `The models need a migration: sequitur migrate diff <name>\n${linesOf(planned.files)}`,
      )
      process.stdout.write(
        remarksOf(planned.difference, [...planned.byHand.map(notWritten), ...planned.remarks], flags.has('strict')),
      )
      return isSame ? 0 : 1
    })
  },
}

const SAME = 'The tables fit the models: there is nothing to migrate.\n'

function nameOf([name, surplus]: readonly string[]): string {
  if (name === undefined) throw new CommandError('Name the migration: sequitur migrate diff add-power')
  if (surplus !== undefined) throw new CommandError(`sequitur migrate diff: '${surplus}' is one argument too many.`)
  if (/^[\w-]{1,100}$/.test(name) && !name.endsWith('-contract')) return name
  throw new CommandError(
    `The name '${name}' cannot be one of a migration. Write letters, digits and -, and no -contract at its end: add-power`,
  )
}

async function choicesOf({ several, sources }: Migrating): Promise<Choices> {
  const { leftOutColumns } = await import('../../migrations/models/left-out-columns.js')
  return { ...several, without: leftOutColumns(sources) }
}

/** @throws CommandError if the database is not at its newest migration. */
async function refusePending({ database, directory, options }: Migrating): Promise<void> {
  if (!existsSync(directory)) return
  const { migrate, migrationStatus } = await import('../../migrations/run/migrate.js')
  const { scratch } = options
  if (scratch !== undefined) {
    const { newLifespan } = await import('../../db/lifespan.js')
    await refuseUsed(scratch, directory)
    await migrate(newLifespan(scratch), { directory })
    return
  }
  const { pending, changed } = await migrationStatus(database, { directory })
  if (changed.length > 0)
    throw new CommandError(
      `Applied migrations have changed since: ${changed.join(', ')}. Write them again as they were.`,
    )
  if (pending.length > 0)
    throw new CommandError(
      `Migrations are pending: ${pending.join(', ')}. Apply them first: sequitur migrate up; or compare with an empty database: --scratch <url>`,
    )
}

/** @throws CommandError for a database with tables that are not those of the migrations, or with rows that pending ones would change: a wrong URL would lose them. */
async function refuseUsed(scratch: string, directory: string): Promise<void> {
  const [{ newLifespan }, { migrationStatus }, { readCatalog }, { isPackageTable }, { tableWithRows }] =
    await Promise.all([
      import('../../db/lifespan.js'),
      import('../../migrations/run/migrate.js'),
      import('../../db/catalog/read-catalog.js'),
      import('../../migrations/models/package-tables.js'),
      import('../../migrations/models/table-with-rows.js'),
    ])
  const { applied, missing, pending } = await migrationStatus(newLifespan(scratch), { directory })
  const isKnown = applied.length > missing.length
  if (isKnown && pending.length === 0) return
  const database = newLifespan(scratch)
  await database.start()
  try {
    const catalog = await readCatalog(database.sequelize)
    const table = catalog.tables.find((one) => !isPackageTable(one))
    if (table && !isKnown)
      throw new CommandError(
        `--scratch: the database has the table ${table.name}, and none of these migrations. Name an empty database: they are applied to it.`,
      )
    const filled = await tableWithRows(database.sequelize, catalog)
    if (filled !== undefined)
      throw new CommandError(
        `--scratch: the table ${filled} has rows, and these migrations are not applied there: ${pending.join(', ')}. Name an empty database, in which they lose nothing.`,
      )
  } finally {
    await database.stop()
  }
}

/** Reads both catalogs, and calls the work while the database is open. */
function compare({ database, options }: Migrating, work: (both: Compared) => Promise<number>): Promise<number> {
  return database.withModels(async ({ sequelize, boundary }) => {
    const { compared } = await import('../../migrations/plan/plan-migration.js')
    return work(await compared(sequelize, Object.values(sequelize.models), boundary)).catch(asCommandError)
  }, options['scratch'])
}

async function planFor(both: Compared, choices: Choices): Promise<PlannedMigration> {
  const { planMigration } = await import('../../migrations/plan/plan-migration.js')
  return planMigration(both, choices)
}

/** What people have to decide is no failure of the program. */
function asCommandError(error: unknown): never {
  throw error instanceof Error && error.name === 'PlanError' ? new CommandError(error.message) : error
}

/** Writes the way back into a folder that `up` does not read. @returns what to print. */
async function writeBack(both: Compared, planned: PlannedMigration, path: string): Promise<string> {
  const { file, left } = await planned.back()
  const lost = left.length === 0 ? '' : `No way back, because values would be lost: ${escapeForLog(left.join(', '))}\n`
  if (!file) return lost
  writeNew(
    path,
    `// The way back: move it into the folder above, with a later date in its name.\n${await textOf(both, file)}`,
  )
  return `${path}\n${linesOf([file])}${lost}`
}

function pathOf(directory: string, name: string, { contract }: PlannedFile): string {
  return join(directory, `${name}${contract ? '-contract' : ''}.ts`)
}

async function textOf({ database }: Compared, file: PlannedFile): Promise<string> {
  const { fileText } = await import('../../migrations/plan/file-text.js')
  return fileText(database.kind, file, versionOfProgram())
}

function versionOfProgram(): string | undefined {
  if (!existsSync('package.json')) return undefined
  const manifest: unknown = JSON.parse(readText('package.json'))
  const version: unknown =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : undefined
  return typeof version === 'string' ? version : undefined
}

function reportOf(
  { files, difference, byHand, remarks }: PlannedMigration,
  paths: readonly string[],
  isStrict: boolean,
  scratch: string | undefined,
): string {
  const lists = files.map((file, index) => `${paths[index] ?? ''}\n${linesOf([file])}`)
  const steps = files.flatMap((file) => file.steps)
  const advice = [
    ...expandAndContract(steps.flatMap(({ rewritten = [] }) => rewritten)),
    ...steps.flatMap((step) => step.advice ?? []),
  ]
  const contracts = files.some(({ contract }) => contract)
  return [
    files.length + byHand.length === 0 ? SAME : lists.join(''),
    ...(advice.length === 0 ? [] : [`${advice.join('\n')}\n`]),
    ...(contracts && scratch === undefined
      ? ['The -contract file deletes: apply it once no older version of the program runs.\n']
      : []),
    remarksOf(difference, [...byHand.map(notWritten), ...remarks], isStrict),
  ].join('')
}

/** The steps as people read them. */
function linesOf(files: readonly PlannedFile[]): string {
  const steps = files.flatMap((file) => file.steps).filter(({ isPart }) => isPart !== true)
  const cells = steps.map(({ table, what, note }: PlannedStep) =>
    [table, oneLine(what), note].map((cell) => escapeForLog(cell)),
  )
  return steps.length === 0 ? '' : tableOf(cells).replace(/^(?=.)/gm, '  ')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}

function notWritten(text: string): string {
  return `Not written: ${text}`
}

/** What the database has, and no model. */
function remarksOf(
  { unknownColumns, unknownKeys, unknown }: Difference,
  remarks: readonly string[],
  isStrict: boolean,
): string {
  const columns = unknownColumns.flatMap(({ table, column }) => {
    const place = `${table.schema === undefined ? '' : `${table.schema}.`}${table.name}.${column.name}`
    const needsValue = !column.nullable && column.default === undefined && !column.identity && !column.generated
    const trouble = needsValue ? ', and is NOT NULL without a default: the models cannot add rows' : ''
    return [
      `Not written: column ${place} is in the database and not in the model${trouble}.`,
      `  --rename ${place}:<new name>   it has a new name;   --drop ${place}   it and its values are deleted`,
    ]
  })
  const [first] = unknownKeys
  const keys =
    first === undefined
      ? []
      : [`Left alone, in the database and not in the models: ${unknownKeys.join(', ')}. --drop "${first}" deletes it.`]
  const left = unknown.filter((what) => !unknownKeys.includes(what))
  const others = isStrict ? left.map((what) => `Left alone: ${what} is in the database, and no model has it.`) : []
  return [...columns, ...keys, ...remarks, ...others].map((line) => `${escapeForLog(line, MOST_SHOWN)}\n`).join('')
}

/** The longest line, in characters. */
const MOST_SHOWN = 10_000
