import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Results, type Sample, whyNotPublished } from '../../bench/compare/results.js'

const sample: Sample = {
  peer: 'raw',
  work: 'get',
  database: 'postgres',
  round: 1,
  requests: 1,
  requestsPerSecond: 1,
  cpu: 1,
  databaseCpu: 1,
  p50: 1,
  p99: 1,
  memory: 1,
  client: 0.5,
  others: 0.1,
}

function runOf(changes: Partial<Sample>, rounds = 3, failures: readonly string[] = []): Results {
  return { conditions: { rounds }, titles: {}, samples: [sample, { ...sample, ...changes }], failures }
}

test('the figures of an idle machine may be published', () => {
  assert.equal(whyNotPublished(runOf({})), undefined)
})

for (const [what, run, reason] of [
  ['of a busy machine', runOf({ others: 0.4 }), /In 1 of 2 measurements, other programs used .*at most 0\.40/],
  ['of an unknown machine', runOf({ others: null }), /at most not known/],
  ['of one round', runOf({}, 1), /Three rounds are the least/],
  ['with failures', runOf({}, 3, ['raw']), /Measurements that failed: 1/],
] as const)
  test(`the figures ${what} are not published`, () => {
    assert.match(whyNotPublished(run) ?? '', reason)
  })
