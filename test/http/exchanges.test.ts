import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import test from 'node:test'
import { array, assert as check, nat, property } from 'fast-check'
import { Abort } from '../../src/core/abort.js'
import { UNLIMITED } from '../../src/core/events/query-counter.js'
import { RequestRecorder } from '../../src/http/observation/request-recorder.js'
import { Request } from '../../src/http/request.js'
import { Exchange, RunningExchanges } from '../../src/http/server/exchanges.js'
import { Log, SILENT } from '../../src/http/server/logger.js'

test('those exchanges run that were added and have not ended, in the order of their arrival', () => {
  check(
    property(array(nat({ max: 30 })), (choices) => {
      const running = new RunningExchanges(
        new RequestRecorder(undefined, { limits: UNLIMITED, report: undefined }),
        1_000,
      )
      const exchanges: Exchange[] = []
      const expected = new Set<Exchange>()
      const aborted: Exchange[] = []
      for (const choice of choices) {
        const known = exchanges[choice]
        if (known) {
          // A response that was destroyed before may close once more.
          for (let part = Math.max(1, known.parts); part > 0; part--) running.endPart(known)
          expected.delete(known)
        } else {
          const exchange = newExchange(running)
          exchange.request.abort.onAbort(() => aborted.push(exchange))
          exchanges.push(exchange)
          running.add(exchange)
          expected.add(exchange)
        }
        assert.equal(running.size, expected.size)
      }
      running.abortAll()
      assert.deepEqual(
        aborted.map((exchange) => exchanges.indexOf(exchange)),
        [...expected].map((exchange) => exchanges.indexOf(exchange)),
      )
    }),
  )
})

function newExchange(running: RunningExchanges): Exchange {
  const raw = new IncomingMessage(new Socket())
  return new Exchange(
    new Request(raw, new Abort()),
    new ServerResponse(raw),
    undefined,
    false,
    new Log(SILENT, 'json'),
    running,
  )
}
