import type { InputDescription, RouteDescription } from '../http/routing/route-description.js'
import { escapeForLog } from '../core/log-text.js'
import { type Command, refuseMoreWords } from './command.js'
import { DEFAULT_MODULE, loadApp } from './load-app.js'
import { tableOf } from './table.js'

export const routes: Command = {
  usage: 'routes [module]',
  details: `Lists the routes of the app that the module creates, without a server or a database. Without a module: ${DEFAULT_MODULE}.
  INPUTS       by their place in the request; those with a question mark are optional
  TRANSACTION  yes, no, read-only, an isolation level, and how often the handler may run again`,
  options: [],
  run,
}

async function run(words: readonly string[]): Promise<number> {
  refuseMoreWords(words, 1, 'sequitur routes')
  const listed = (await loadApp(words[0] ?? DEFAULT_MODULE)).routes()
  const rows = [['METHOD', 'PATH', 'HANDLER', 'INPUTS', 'TRANSACTION'], ...listed.map(rowOf)]
  process.stdout.write(`${tableOf(rows)}\n${listed.length === 1 ? '1 route' : `${listed.length} routes`}\n`)
  return 0
}

function rowOf({ method, path, handler, inputs, transactions }: RouteDescription): string[] {
  return [method, path, handler, inputsOf(inputs), transactionOf(transactions)].map((cell) => escapeForLog(cell))
}

const LOCATIONS = ['path', 'query', 'header', 'cookie', 'body'] as const satisfies readonly InputDescription['in'][]

/** `path hero_id, query limit? next_cursor?` */
function inputsOf(inputs: readonly InputDescription[]): string {
  const groups = LOCATIONS.map((location) => [location, inputs.filter((input) => input.in === location)] as const)
  return groups.flatMap(([location, those]) => (those.length > 0 ? `${location} ${namesOf(those)}` : [])).join(', ')
}

// Two services of a handler may read the same input.
function namesOf(inputs: readonly InputDescription[]): string {
  return [...new Set(inputs.map(({ name, optional }) => (optional ? `${name}?` : name)))].join(' ')
}

// @Transactional applies to all databases of the app.
function transactionOf([first]: RouteDescription['transactions']): string {
  if (!first) return 'no'
  const { readOnly, isolation, retry } = first
  const parts = [readOnly ? 'read-only' : [], isolation ?? [], retry > 0 ? `retry ${retry}` : []].flat()
  return parts.join(', ') || 'yes'
}
