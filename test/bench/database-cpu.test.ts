import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { cpuSeconds, treeCpuSeconds } from '../../bench/compare/process-facts.js'
import { compare, type Sample, tableOf } from '../../bench/compare/results.js'
import { skipWithout } from '../support/skip-without.js'

/** A process that starts another one, which uses a third of a second of CPU and ends, and then waits. */
const PARENT = `
  const { spawn } = require('node:child_process')
  const burn = "while (process.cpuUsage().user < 300_000);"
  spawn(process.execPath, ['--eval', burn]).once('exit', () => process.send('ended'))
  process.on('disconnect', () => process.exit())
`

const folder = mkdtempSync(join(tmpdir(), 'sequitur-bench-'))
let parent: ChildProcess
before(async () => {
  const file = join(folder, 'parent.cjs')
  writeFileSync(file, PARENT)
  parent = fork(file, [], { execArgv: [] })
  await once(parent, 'message')
})
after(() => {
  parent.disconnect()
  rmSync(folder, { recursive: true })
})

const skip = skipWithout('CPU of other processes', ['/proc/self/stat'])

test('the CPU of a server counts its processes that have ended', { skip }, () => {
  const { pid = 0 } = parent
  const own = cpuSeconds(pid) // first: what it uses meanwhile would be taken from its processes
  assert.ok(treeCpuSeconds(pid) - own >= 0.3)
})

test('the CPU of a server counts its processes that run, and theirs', { skip }, () => {
  const own = cpuSeconds(process.pid)
  assert.ok(treeCpuSeconds(process.pid) - own >= 0.3) // of the child of the child of this process
})

test('a process that does not exist has no CPU', { skip }, () => {
  assert.equal(treeCpuSeconds(2 ** 30), Number.NaN)
})

const sample: Omit<Sample, 'peer'> = {
  work: 'get',
  database: 'postgres',
  round: 1,
  requests: 1,
  requestsPerSecond: 1,
  cpu: 2,
  databaseCpu: 0.7,
  others: 0,
  p50: 1,
  p99: 1,
  memory: 1,
  client: 0,
}

function linesOf(samples: readonly Sample[]): string {
  return compare({ conditions: {}, titles: {}, samples, failures: [] }).map(tableOf).join('\n')
}

test('a table compares the CPU of the database with that of the reference', () => {
  const table = linesOf([
    { ...sample, peer: 'raw' },
    { ...sample, peer: 'sequitur', databaseCpu: 0.35 },
  ])
  assert.match(table, /CPU of the database +to raw/)
  assert.match(table, /sequitur .* 0\.35 +0\.50 \[0\.50-0\.50\]/)
})

test('where the database has no process, or an older file no figure, the table has a dash', () => {
  const { databaseCpu: _, ...older } = sample
  const table = linesOf([
    { ...sample, databaseCpu: null, peer: 'raw' },
    { ...(older as typeof sample), peer: 'sequitur' }, // as a file of an older version has it
  ])
  assert.match(table, /raw +2\.00 +1\.00 \[1\.00-1\.00\] +- +- /)
  assert.match(table, /sequitur +2\.00 +1\.00 \[1\.00-1\.00\] +- +- /)
})

test('a work that costs the database nothing has no ratio', () => {
  const table = linesOf([
    { ...sample, databaseCpu: 0.7, peer: 'raw' },
    { ...sample, databaseCpu: 0, peer: 'raw', round: 2 },
    { ...sample, databaseCpu: 0, peer: 'sequitur' },
    { ...sample, databaseCpu: 0.01, peer: 'sequitur', round: 2 },
  ])
  assert.match(table, /sequitur +2\.00 +1\.00 \[1\.00-1\.00\] +0\.01 +- /)
})
