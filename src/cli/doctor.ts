import { describeError, escapeForLog } from '../core/log-text.js'
import { startupMessage } from '../core/startup-error.js'
import { type Command, CommandError, refuseMoreWords } from './command.js'
import { DEFAULT_MODULE, loadApp, type LoadedApp } from './load-app.js'
import { checkTsconfig } from './tsconfig.js'

export const doctor: Command = {
  usage: 'doctor [module]',
  summary: 'looks for mistakes in the setup of a project',
  details: `Looks for mistakes in the setup, and exits with 1 if there are any. Without a module: ${DEFAULT_MODULE}.
  tsconfig.json  the options that decorators need
  the module     creates its app: parameters have types, one copy of each package is loaded
  the database   has the tables and columns of the models; nothing is created`,
  options: [],
  run,
}

/** What a check has found: problems, or what is in order. */
interface Finding {
  readonly subject: string
  readonly state: 'ok' | 'problem' | 'skipped'
  readonly text: string
}

async function run(words: readonly string[]): Promise<number> {
  refuseMoreWords(words, 1, 'sequitur doctor')
  const module = words[0] ?? DEFAULT_MODULE
  const findings = [...tsconfigFindings(module), ...(await appFindings(module))]
  for (const finding of findings) process.stdout.write(`${lineOf(finding)}\n`)
  const problems = findings.filter(({ state }) => state === 'problem').length
  process.stdout.write(`\n${summaryOf(problems)}\n`)
  return problems > 0 ? 1 : 0
}

function summaryOf(problems: number): string {
  if (problems === 0) return 'Nothing found.'
  return problems === 1 ? '1 problem found.' : `${problems} problems found.`
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
    return [{ subject: module, state: 'ok', text: describeRoutes(app) }, ...(await databaseFindings(app))]
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

async function databaseFindings({ databaseChecks }: LoadedApp): Promise<readonly Finding[]> {
  if (databaseChecks.length === 0) return [{ subject: 'database', state: 'skipped', text: 'the app has none' }]
  return Promise.all(
    databaseChecks.map((check, index) =>
      databaseFinding(check, databaseChecks.length === 1 ? 'database' : `database ${index + 1}`),
    ),
  )
}

async function databaseFinding(check: () => Promise<number>, subject: string): Promise<Finding> {
  try {
    const models = await check()
    return { subject, state: 'ok', text: `fits ${models === 1 ? '1 model' : `${models} models`}` }
  } catch (error) {
    return { subject, state: 'problem', text: messageOf(error) }
  }
}

function messageOf(error: unknown): string {
  if (error instanceof CommandError) return escapeForLog(error.message)
  return startupMessage(error) ?? describeError(error)
}

/** Further lines of a finding are indented. */
function lineOf({ subject, state, text }: Finding): string {
  return `${state.padEnd(7)}  ${escapeForLog(subject)}: ${text.trimEnd().replaceAll('\n', '\n         ')}`
}
