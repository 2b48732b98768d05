// How the cost of a request grows: plots of CPU and memory against the size of an app, of its tables, and of what is asked of it. Linux only.
//   npm run bench:growth -- [--only routes,columns] [--rounds 3] [--warm-up 1.5] [--seconds 0.4] [--built] [--redraw]
// Both are seconds of CPU, of a server and of its database. Writes bench/growth.json, the pictures of bench/growth, and a section of docs/scaling.md. --built uses dist as it is; --redraw writes pictures and section of the file again.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres } from '../test/support/postgres-server.js'
import { root } from './compare/prepare.js'
import { hasProc, pidIn } from './compare/process-facts.js'
import { type Dimension, executeOn, rowsOf } from './growth/dimension.js'
import { dimensions, explain } from './growth/dimensions.js'
import { type Growth, picturesOf, sectionOf, withSection } from './growth/results.js'
import { compileServers } from './growth/server.js'

const FILE = join(root, 'bench/growth.json')
const PAGE = join(root, 'docs/scaling.md')
const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    'warm-up': { type: 'string', default: '1.5' },
    seconds: { type: 'string', default: '0.4' },
    built: { type: 'boolean', default: false },
    redraw: { type: 'boolean', default: false },
  },
})

const lengths = {
  rounds: Number(options.rounds),
  warmUp: Number(options['warm-up']),
  seconds: Number(options.seconds),
}

if (!options.redraw) {
  if (!hasProc) throw new Error('There is no /proc: CPU and memory can be measured on Linux only.')
  if (!options.built) execFileSync(process.execPath, ['scripts/build.js'], { cwd: root, stdio: 'inherit' })
  compileServers()
  for (const dimension of chosen()) save(await measured(dimension))
}
draw(saved())

function chosen() {
  const names = options.only?.split(',') ?? dimensions.map(({ name }) => name)
  return names.map((name) => {
    const found = dimensions.find((dimension) => dimension.name === name)
    if (!found)
      throw new Error(`--only: there is no '${name}'. Choose from: ${dimensions.map((one) => one.name).join(', ')}`)
    return found
  })
}

/** Each thing has a database server of its own, which is not busy with the rows of another one. */
async function measured({ name, title, x, xs, measure }: Dimension): Promise<Growth> {
  console.log(`\n${name}: ${title}`)
  const [loadBefore = Number.NaN] = loadavg()
  const started = performance.now()
  const server = await startPostgres({ settings: { shared_buffers: '1GB', max_wal_size: '8GB' } })
  try {
    const lines = await measure({
      url: server.url,
      database: pidIn(join(await folderOf(server.url), 'postmaster.pid'), /postgres/),
      ...lengths,
      execute: (...statements) => executeOn(server.url, statements),
    })
    const seconds = Math.round((performance.now() - started) / 1000)
    return { name, title, x, xs, conditions: conditions(loadBefore, seconds), lines }
  } finally {
    await server.stop()
  }
}

async function folderOf(url: string): Promise<string> {
  const [row] = await rowsOf<{ folder: string }>(url, `SELECT current_setting('data_directory') AS folder`)
  return row?.folder ?? ''
}

function conditions(loadBefore: number, seconds: number) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
  return {
    date: new Date().toISOString(),
    commit,
    node: process.version,
    processor: cpus()[0]?.model,
    cores: availableParallelism(),
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    ...lengths,
    loadBefore,
    seconds,
  }
}

function saved(): readonly Growth[] {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Growth[]) : [] // written by save()
}

/** In the place of what was measured before. */
function save(growth: Growth): void {
  const all = [...saved().filter(({ name }) => name !== growth.name), growth]
  const order = dimensions.map(({ name }) => name)
  const sorted = all.toSorted((one, other) => order.indexOf(one.name) - order.indexOf(other.name))
  writeFileSync(FILE, `${JSON.stringify(sorted, undefined, 1)}\n`)
}

function draw(growths: readonly Growth[]): void {
  for (const growth of growths)
    for (const [name, picture] of picturesOf(growth)) writeFileSync(join(root, 'bench/growth', name), picture)
  writeFileSync(PAGE, withSection(readFileSync(PAGE, 'utf8'), sectionOf(growths, explain)))
}
