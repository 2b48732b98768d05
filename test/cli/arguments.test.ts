import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readArguments } from '../../src/cli/command.js'

const OPTIONS = { options: ['name', 'queue', 'backfill'], lists: ['queue'], several: ['backfill'], flags: ['json'] }
const read = (...args: readonly string[]) => readArguments(args, 'sequitur test', OPTIONS)

test('of an option that is given twice the last value counts, those of a list are joined, and those of several are kept apart', () => {
  const given = [
    '--name',
    'a',
    '--name=b',
    '--queue',
    'x',
    '--queue',
    'y',
    '--backfill',
    `a.b='1, 2'`,
    '--backfill=c.d=3',
  ]
  assert.deepEqual(read(...given, '--json', 'word'), {
    words: ['word'],
    options: { name: 'b', queue: 'x,y' },
    several: { backfill: [`a.b='1, 2'`, 'c.d=3'] },
    flags: new Set(['json']),
  })
})

test('an option of several needs a value, too', () =>
  assert.throws(() => read('--backfill', '--json'), /^Error: sequitur test: --backfill needs a value\./))
