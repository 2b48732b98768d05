// What a program costs before its first request: importing Sequitur, and createApp of 1,000 routes.
//   npm run build && node --import tsx bench/start.ts [rounds] [routes]
// Each measurement is a new process of plain JavaScript. CPU of all its threads, in milliseconds: medians, and their range.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { lower } from '../src/register/lower.js'

const [rounds = 7, routes = 1000] = process.argv.slice(2).map(Number)
const ROUTES_OF_RESOURCE = 10
const folder = fileURLToPath(new URL('./results/start/', import.meta.url))

const MEASURE = `// @ts-nocheck
const cpu = (since) => { const { user, system } = process.cpuUsage(since); return (user + system) / 1000 }
const mib = () => process.memoryUsage().rss / 2 ** 20
`

const IMPORTS = `${MEASURE}
await import('sequelize'); await import('sequelize-typescript'); await import('pg')
const before = process.cpuUsage()
await import('sequitur')
console.log(JSON.stringify({ 'import sequitur': cpu(before) }))
`

const CREATE = `${MEASURE}
import { createApp } from 'sequitur'
import { controllers } from './program.js'
const first = mib()
const before = process.cpuUsage()
const app = createApp({ controllers, logger: false })
const created = cpu(before)
const memory = mib() - first
const sent = process.cpuUsage()
for (let number = 0; number < controllers.length; number++) {
  for (let route = 0; route < ${ROUTES_OF_RESOURCE}; route++) {
    const url = '/resources' + number + '/items' + route + '/5?limit=3&name=x'
    const payload = { title: 'a title', amount: 3, lines: [{ sku: 'A-1', count: 2 }], address: { city: 'Rome' } }
    const { statusCode, body } = await app.inject({ method: 'POST', url, payload })
    if (statusCode !== 201) throw new Error(statusCode + body)
  }
}
const requests = cpu(sent)
const document = process.cpuUsage()
const { body } = await app.inject('/openapi.json')
if (!body.includes('Order0')) throw new Error(body)
console.log(JSON.stringify({
  'createApp': created, 'createApp, MiB of memory': memory, 'first request of each route': requests, 'openapi.json': cpu(document),
}))
`

/** A resource with routes that have path, query and body inputs, five classes of its own, and a response. */
function resource(number: number): string {
  const handlers = Array.from(
    { length: ROUTES_OF_RESOURCE },
    (_, route) => `
  @Post('/items${route}/:id', Order${number})
  handle${route}(id: number, @Query() limit: number, @Query() filter: Filter${number}, @Body() order: NewOrder${number}) {
    return { id, ...order, createdAt: new Date(0), status: 'open' }
  }`,
  )
  return `
class Line${number} {
  @Field({ minLength: 1, maxLength: 20, pattern: /^[A-Z]+-[0-9]+$/ }) sku!: string
  @Field({ type: 'integer', minimum: 1, maximum: ${1000 + number} }) count!: number
}
class Address${number} {
  @Field({ maxLength: 80 }) city!: string
  @Field({ maxLength: 80, optional: true }) street?: string
  @Field({ maxLength: ${10 + number}, optional: true }) zip?: string
}
class Filter${number} {
  @Field({ maxLength: 40, optional: true }) name?: string
  @Field({ enum: ['open', 'paid', 'sent'], optional: true }) status?: string
  @Field({ type: 'integer', minimum: 0, optional: true }) from?: number
}
class NewOrder${number} {
  @Field({ minLength: 1, maxLength: 200 }) title!: string
  @Field({ minimum: 0, maximum: 100000 }) amount!: number
  @Field({ format: 'email', optional: true }) email?: string
  @Field({ optional: true }) paidAt?: Date
  @Field({ type: [Line${number}], maxItems: 50 }) lines!: Line${number}[]
  @Field() address!: Address${number}
}
class Order${number} extends NewOrder${number} {
  @Field({ type: 'integer' }) id!: number
  @Field() createdAt!: Date
  @Field({ enum: ['open', 'paid', 'sent'] }) status!: string
}
@Controller('/resources${number}')
class Resource${number}Controller {${handlers.join('')}
}
controllers.push(Resource${number}Controller)
`
}

/** Runs a program in a process of its own; what it measured, by its names. */
function run(file: string): Readonly<Record<string, number>> {
  return JSON.parse(execFileSync(process.execPath, [`${folder}${file}`], { encoding: 'utf8' }))
}

mkdirSync(folder, { recursive: true })
try {
  const resources = Array.from({ length: routes / ROUTES_OF_RESOURCE }, (_, number) => resource(number))
  const source = `// @ts-nocheck\nimport { Body, Controller, Field, Post, Query } from 'sequitur'\nexport const controllers: unknown[] = []\n${resources.join('')}`
  writeFileSync(`${folder}program.js`, lower(`${folder}program.ts`, source).code)
  writeFileSync(`${folder}imports.js`, IMPORTS)
  writeFileSync(`${folder}create.js`, CREATE)
  const measured = new Map<string, number[]>()
  for (let round = 0; round < rounds; round++) {
    for (const [name, value] of Object.entries({ ...run('imports.js'), ...run('create.js') }))
      measured.set(name, [...(measured.get(name) ?? []), value])
  }
  for (const [name, values] of measured) {
    const sorted = values.toSorted((one, other) => one - other)
    const [least = 0, median = 0, most = 0] = [0, Math.floor(sorted.length / 2), sorted.length - 1].map(
      (index) => sorted[index],
    )
    console.log(`${name.padEnd(30)} ${median.toFixed(0)} [${least.toFixed(0)}-${most.toFixed(0)}]`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
