import { describeError, escapeForLog } from '../core/log-text.js'
import { startupMessage } from '../core/startup-error.js'
import { type Command, CommandError, refuseMoreWords } from './command.js'
import { unexposedHeaders } from './cross-origin.js'
import { DEFAULT_MODULE, loadApp, type LoadedApp } from './load-app.js'
import { checkTsconfig } from './tsconfig.js'

export const doctor: Command = {
  usage: 'doctor [module]',
  details: `Looks for mistakes in the setup, and exits with 1 if there are any. Without a module: ${DEFAULT_MODULE}.
  tsconfig.json  the options that decorators need
  the module     creates its app: parameters have types, one copy of each package is loaded
  the database   has the tables and columns of the models; nothing is created
A hint names an index that is missing, keys that are nearly used up, headers that cors() does not expose, jobs that are dead, or that the app does not
have, relays that fail, and does not change the exit code.`,
  options: [],
  run,
}

/** The result of a check: problems, hints, or what is in order. */
interface Finding {
  readonly subject: string
  readonly state: 'ok' | 'problem' | 'hint' | 'skipped'
  readonly text: string
}

async function run(words: readonly string[]): Promise<number> {
  refuseMoreWords(words, 1, 'sequitur doctor')
  const module = words[0] ?? DEFAULT_MODULE
  const findings = [...tsconfigFindings(module), ...(await appFindings(module))]
  for (const finding of findings) process.stdout.write(`${lineOf(finding)}\n`)
  process.stdout.write(`\n${summaryOf(findings)}\n`)
  return findings.some(({ state }) => state === 'problem') ? 1 : 0
}

function summaryOf(findings: readonly Finding[]): string {
  const counts = (['problem', 'hint'] as const).flatMap((wanted) => {
    const { length } = findings.filter(({ state }) => state === wanted)
    return length === 0 ? [] : `${length} ${wanted}${length === 1 ? '' : 's'}`
  })
  return counts.length === 0 ? 'Nothing found.' : `${counts.join(' and ')} found.`
}

function tsconfigFindings(module: string): Finding[] {
  const subject = 'tsconfig.json'
  if (!/\.[cm]?ts$/.test(module)) return [{ subject, state: 'skipped', text: `${module} is compiled` }]
  const problems = checkTsconfig()
  if (problems.length === 0) return [{ subject, state: 'ok', text: 'has the options that decorators need' }]
  return problems.map((text) => ({ subject, state: 'problem', text }))
}

async function appFindings(module: string): Promise<Finding[]> {
  try {
    const app = await loadApp(module)
    const ok: Finding = { subject: module, state: 'ok', text: describeRoutes(app) }
    const ofDatabase = await databaseFindings(app)
    const fits = !ofDatabase.some(({ state }) => state === 'problem')
    return [ok, ...crossOriginFindings(app), ...ofDatabase, ...(fits ? await backgroundFindings(app) : [])]
  } catch (error) {
    return [
      { subject: module, state: 'problem', text: messageOf(error) },
      { subject: 'database', state: 'skipped', text: 'there is no app' },
    ]
  }
}

function describeRoutes(app: LoadedApp): string {
  const { length } = app.routes()
  return `creates its app, with ${length === 1 ? '1 route' : `${length} routes`}; one copy of each package is loaded`
}

function crossOriginFindings(app: LoadedApp): readonly Finding[] {
  const names = unexposedHeaders(app)
  if (names.length === 0) return []
  const list = names.map((name) => `'${name}'`).join(', ')
  const text = `programs in browsers cannot read ${names.join(', ')} from another origin. Write: cors({ exposedHeaders: [${list}] })`
  return [{ subject: 'cors()', state: 'hint', text }]
}

async function databaseFindings({ databaseChecks }: LoadedApp): Promise<readonly Finding[]> {
  if (databaseChecks.length === 0) return [{ subject: 'database', state: 'skipped', text: 'the app has none' }]
  const findings = await Promise.all(
    databaseChecks.map((check, index) =>
      findingsOfDatabase(check, databaseChecks.length === 1 ? 'database' : `database ${index + 1}`),
    ),
  )
  return findings.flat()
}

async function findingsOfDatabase(
  check: LoadedApp['databaseChecks'][number],
  subject: string,
): Promise<readonly Finding[]> {
  try {
    const { models, keys, hints } = await check()
    return [
      { subject, state: 'ok', text: `fits ${models === 1 ? '1 model' : `${models} models`}` },
      ...keys.map((text): Finding => ({ subject, state: 'ok', text: escapeForLog(text) })),
      ...hints.map((text): Finding => ({ subject, state: 'hint', text: escapeForLog(text) })),
    ]
  } catch (error) {
    return [{ subject, state: 'problem', text: messageOf(error) }]
  }
}

async function backgroundFindings({ jobs, relays }: LoadedApp): Promise<readonly Finding[]> {
  const hints = { jobs: await jobs?.hints(), relays: await relays?.hints() }
  return Object.entries(hints).flatMap(([subject, texts = []]) =>
    texts.map((text): Finding => ({ subject, state: 'hint', text: escapeForLog(text) })),
  )
}

function messageOf(error: unknown): string {
  if (error instanceof CommandError) return escapeForLog(error.message)
  return startupMessage(error) ?? describeError(error)
}

/** Further lines of a finding are indented. */
function lineOf({ subject, state, text }: Finding): string {
  return `${state.padEnd(7)}  ${escapeForLog(subject)}: ${text.trimEnd().replaceAll('\n', '\n         ')}`
}
