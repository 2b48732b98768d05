// Draws the results of `npm run bench` on one database, for a page: CPU of each request, as a multiple of the reference's.
//   npm run bench:chart -- [postgres] [bench/results/latest.json] [bench/comparison.svg]
import { readFileSync, writeFileSync } from 'node:fs'
import { bars } from './compare/bars.js'
import { compare, type Results, whyNotPublished } from './compare/results.js'
import { databaseTitles } from './compare/works.js'

const [database = 'postgres', from = 'bench/results/latest.json', to = 'bench/comparison.svg'] = process.argv.slice(2)
const results = JSON.parse(readFileSync(from, 'utf8')) as Results // written by compare.ts
const drawn = compare(results).filter(({ task }) => task.database === undefined || task.database === database)
if (!drawn.some(({ rows }) => rows.some(({ cpuRatio }) => cpuRatio)))
  throw new Error(`${from} has no ratios on ${database}: measure with the peer raw, on Linux.`)

const reason = whyNotPublished(results)
if (reason !== undefined) throw new Error(`${from} is not drawn: ${reason}`)

const { date, node, databases, rounds, seconds, connections } = results.conditions
const name = Object.entries(databaseTitles).find(([kind]) => kind === database)?.[1] ?? database
const version = (databases as Readonly<Record<string, string>>)[database] ?? ''
const note = `${String(date).slice(0, 10)}, Node ${node}, ${name} ${version}, ${connections} connections, medians and ranges of ${rounds} rounds of ${seconds} s. Less is better.`
writeFileSync(to, bars(`CPU of a request on ${name}, as a multiple of node:http with SQL by hand`, note, drawn))
console.log(to)
