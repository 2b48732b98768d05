import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Events, file, Get, Post, Transactional } from 'sequitur'
import 'sequitur/feeds'
import { Rows, rows } from 'sequitur/exports'
import { memoryDatabase } from 'sequitur/testing'
import { select } from 'sequitur'
import { bootMessage } from '../support/api.js'
import { Hero, Team } from '../support/hero.js'

@Controller()
class Posted {
  @Post('/', { live: true }) create() {
    return {}
  }
}

@Controller()
class Bytes {
  @Get('/', { live: true, produces: 'text/plain' }) bytes() {
    return file(Buffer.from('a'))
  }
}

@Controller()
class Exported {
  @Get('/', Rows.of(Hero), { live: true }) export() {
    return rows(select(Hero))
  }
}

@Controller()
class Streamed {
  @Get('/', Events.of(String), { live: true }) stream(): never {
    throw new Error('no')
  }
}

@Controller()
class Accepted {
  @Get('/', { live: true, status: 202 }) accept() {
    return {}
  }
}

@Controller()
class WithoutTransaction {
  @Transactional(false)
  @Get('/', { live: true })
  list() {
    return {}
  }
}

@Controller()
class Plain {
  @Get('/', { live: true }) list() {
    return {}
  }
}

const mistakes = [
  [Posted, 'Posted.create has live: true, but handles POST.'],
  [Bytes, 'Bytes.bytes has live: true, but its response is not JSON with the status 200'],
  [Exported, 'Exported.export has live: true, but its response is not JSON with the status 200'],
  [Streamed, 'Streamed.stream has live: true, but its response is not JSON with the status 200'],
  [Accepted, 'Accepted.accept has live: true, but its response is not JSON with the status 200'],
  [WithoutTransaction, 'WithoutTransaction.list has live: true and @Transactional(false)'],
] as const

for (const [controller, message] of mistakes)
  test(message, () => {
    const found = bootMessage([controller], { models: [Team, Hero], lifespan: memoryDatabase() })
    assert.ok(found.includes(message), found)
  })

test('an app without a database has no live list', () => {
  assert.match(bootMessage([Plain]), /Plain\.list has live: true, but the app has no database/)
})
