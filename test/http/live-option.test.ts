// Its process does not import sequitur/feeds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get } from 'sequitur'
import { api, bootMessage } from '../support/api.js'

@Controller()
class Lists {
  @Get('/', { live: true }) list() {
    return []
  }
}

@Controller()
class Others {
  @Get('/', { live: false }) list() {
    return []
  }
}

test('a live route needs what serves it', () => {
  assert.match(bootMessage([Lists]), /Lists\.list has live: true, and .* Write import 'sequitur\/feeds'/)
})

test('live: false is none', async (t) => {
  const { fetch } = await api(t, [Others])
  const response = await fetch('/', { headers: { accept: 'text/event-stream' } })
  assert.deepEqual([await response.json(), response.headers.get('vary')], [[], null])
})
