// What an app of 50 models and 200 routes costs until it is ready: it has compared its models with the database, listens, and /readyz has answered.
//   npm run build && node --import tsx bench/start-app.ts [rounds] [models] [routes of each model]
// Each measurement is a new process, of plain JavaScript and of TypeScript through tsx and sequitur/register, after one that is not counted. "tsx alone" has the
// same program, compiled before, in files of TypeScript: the difference is what sequitur/register adds. CPU of all threads, and the time on the clock, in
// milliseconds: medians, and the range of the CPU. On a busy machine, compare the CPU with that of Node.
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { benchDatabases } from './databases.js'
import { filesOfProgram, writeProgram } from './start/program.js'

const [rounds = 5, models = 50, routes = 4] = process.argv.slice(2).map(Number)
const folder = fileURLToPath(new URL('./results/start-app/', import.meta.url))

type Kind = 'js' | 'ts' | 'lowered'

/** Prints what each phase has taken: `[["node", milliseconds of the clock, of CPU], ...]`. */
const MAIN = `// @ts-nocheck
import { get } from 'node:http'
const [kind, sync] = process.argv.slice(2)
const marks = []
const mark = (name) => {
  const { user, system } = process.cpuUsage()
  marks.push([name, performance.now(), (user + system) / 1000])
}
mark('node')
await import('sequelize-typescript')
mark('sequelize')
await import('sequitur')
mark('sequitur')
const { newApp } = await import(kind === 'js' ? './js/app.js' : './' + kind + '/app.ts')
mark('program')
const app = newApp(sync === 'sync')
mark('createApp')
await app.start()
mark('database')
const { url } = await app.listen(0)
const status = await new Promise((resolve) => get(url + '/readyz', (response) => response.resume().on('end', () => resolve(response.statusCode))))
if (status !== 200) throw new Error('readyz: ' + status)
mark('ready')
process.stdout.write('\\n' + JSON.stringify(marks.map(([name, clock, cpu], index) => [name, clock - (marks[index - 1]?.[1] ?? 0), cpu - (marks[index - 1]?.[2] ?? 0)])))
await app.close()
`

const FLAGS: Readonly<Record<Kind, readonly string[]>> = {
  js: [],
  lowered: ['--import', 'tsx'],
  ts: ['--import', 'tsx', '--import', 'sequitur/register'],
}

type Phases = readonly (readonly [name: string, clock: number, cpu: number])[]

function run(kind: Kind, url: string, ...args: readonly string[]): Phases {
  const env = { ...process.env, NODE_ENV: 'production', toolkit_url: url }
  const output = execFileSync(process.execPath, [...FLAGS[kind], join(folder, 'main.mjs'), kind, ...args], {
    encoding: 'utf8',
    env,
  })
  return JSON.parse(output.split('\n').find((line) => line.startsWith('[[')) ?? '[]')
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
}

function print(title: string, runs: readonly Phases[]): void {
  const cpus = runs.map((phases) => phases.reduce((sum, [, , cpu]) => sum + cpu, 0))
  const clocks = runs.map((phases) => phases.reduce((sum, [, clock]) => sum + clock, 0))
  const parts = (runs[0] ?? []).map(
    ([name], index) => `${name} ${median(runs.map((phases) => phases[index]?.[2] ?? Number.NaN)).toFixed(0)}`,
  )
  const [least, most] = [Math.min(...cpus), Math.max(...cpus)].map((cpu) => cpu.toFixed(0))
  console.log(
    `${title.padEnd(32)} CPU ${median(cpus).toFixed(0)} [${least}-${most}] = ${parts.join(' + ')}; clock ${median(clocks).toFixed(0)}`,
  )
}

try {
  const files = filesOfProgram({ models, routes })
  for (const kind of ['js', 'ts', 'lowered'] as const) writeProgram(join(folder, kind), files, kind)
  writeFileSync(join(folder, 'main.mjs'), MAIN)
  const databases = await benchDatabases()
  const variants = databases.flatMap(({ name, url }) => {
    run('js', url, 'sync')
    const kinds: readonly [string, Kind][] =
      name === 'SQLite'
        ? [
            ['JavaScript', 'js'],
            ['tsx alone', 'lowered'],
            ['tsx and sequitur/register', 'ts'],
          ]
        : [['JavaScript', 'js']]
    return kinds.map(([what, kind]) => ({ title: `${name}, ${what}`, kind, url, runs: [] as Phases[] }))
  })
  for (const { kind, url } of variants) run(kind, url)
  for (let round = 0; round < rounds; round++) for (const { kind, url, runs } of variants) runs.push(run(kind, url))
  for (const { title, runs } of variants) print(title, runs)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit() // of the PostgreSQL that the databases have started
