// A page with the client that `sequitur client` has generated of test/support/programs/ledger.ts.
import { client, configure } from './api.js'
import { ifMatch, seen } from './api.sequitur.js'

configure({ serverUrl: '', ...seen() })

/** Adds one to a counter, many times, and returns how often somebody else was faster. */
async function count(counter_id: number, times: number): Promise<number> {
  let changes = 0
  const read = () => client.counterGet({ path: { counter_id } })
  for (let made = 0; made < times; made++)
    await ifMatch(
      read,
      ({ data }, headers) => {
        changes++
        return client.counterChange({ path: { counter_id }, body: { value: data.value + 1 }, headers })
      },
      100,
    )
  return changes - times
}

Object.assign(globalThis, { count })
