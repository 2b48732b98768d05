import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../support/processes.js'
import { Ledger } from '../soak/ledger.js'

test('a short soak on SQLite finds that all acknowledged rows are there, and that nothing is left behind', async () => {
  const { code, output } = await run(['test/soak/soak.ts', '--minutes', '0.1', '--clients', '8'], {})
  assert.match(output, /^No problems\.$/m)
  assert.match(output, /\d+ file locked for 500 ms/)
  assert.equal(code, 0)
})

test('a soak refuses options that it does not know', async () => {
  const { code, output } = await run(['test/soak/soak.ts', '--database', 'oracle'], {})
  assert.match(output, /--database is sqlite, postgres or mariadb, got 'oracle'/)
  assert.equal(code, 1)
})

/** A ledger with one request of each kind and outcome. */
function ledger(): Ledger {
  const ledger = new Ledger()
  ledger.inserted(['kept'], 'kept')
  ledger.inserted(['refused'], 'refused')
  ledger.inserted(['unknown'], 'unknown')
  ledger.inserted(['first', 'second'], 'unknown')
  ledger.inserted(['deleted'], 'kept')
  ledger.deleted('deleted', 'kept')
  ledger.incremented(1, 'kept')
  ledger.incremented(1, 'unknown')
  ledger.calledBack('kept')
  return ledger
}

for (const { names, counter = 1, callbacks = 1, problems } of [
  { names: ['kept'], problems: [] },
  { names: ['kept', 'unknown', 'first', 'second'], counter: 2, problems: [] },
  { names: [], problems: ['kept was acknowledged and is not there'] },
  { names: ['kept', 'refused'], problems: ['refused was refused or deleted and is there'] },
  { names: ['kept', 'deleted'], problems: ['deleted was refused or deleted and is there'] },
  { names: ['kept', 'other'], problems: ['other is there, and no client has sent it'] },
  { names: ['kept', 'second'], problems: ['only a part of first, second is there'] },
  {
    names: ['kept'],
    counter: 3,
    problems: ['counter 1 is 3: 1 were acknowledged, and of 1 the outcome is unknown'],
  },
  {
    names: ['kept'],
    callbacks: 0,
    problems: ['afterCommit is 0: 1 were acknowledged, and of 0 the outcome is unknown'],
  },
]) {
  test(`rows ${names.join(', ') || 'none'}, a counter of ${counter} and ${callbacks} callbacks have the problems [${problems.join()}]`, () => {
    assert.deepEqual(ledger().compare(new Set(names), new Map([[1, counter]]), callbacks), problems)
  })
}
