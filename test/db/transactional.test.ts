import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, Injectable, provide, Transactional } from 'sequitur'
import { memoryDatabase } from 'sequitur/testing'
import type { Constructor } from '../../src/di/token.js'
import { bootMessage } from '../support/api.js'

/*
 * @Transactional() where it would have no effect: the app does not start.
 */

@Controller('/')
class Helping {
  @Get() read() {
    return this.helper()
  }
  @Transactional({ readOnly: true })
  helper() {
    return 'read'
  }
}

class InheritedHelper extends Helping {}
Controller('/inherited')(InheritedHelper)

@Controller('/')
class Fixed {
  @Get() read() {
    return 'read'
  }
  @Transactional({})
  static make() {}
}

@Injectable()
class Service {
  @Transactional({ retry: 3 })
  save() {}
}

@Injectable()
@Transactional(false)
class Whole {}

@Injectable()
class Below {
  constructor(readonly service: Service) {}
}

@Injectable({ lifetime: 'application' })
class Shared {
  @Transactional({})
  save() {}
}

@Controller('/')
class UsingService {
  @Get() read(below: Below) {
    return below instanceof Below
  }
}

@Controller('/')
class UsingWhole {
  @Get() read(whole: Whole) {
    return whole instanceof Whole
  }
}

@Controller('/')
class UsingShared {
  @Get() read(shared: Shared) {
    return shared instanceof Shared
  }
}

const ignored: readonly (readonly [Constructor, RegExp])[] = [
  [Helping, /^BootError: Helping\.helper has @Transactional\(\), but is not a route.*@Get\(\)/],
  [InheritedHelper, /^BootError: InheritedHelper\.helper has @Transactional\(\), but is not a route/],
  [Fixed, /^BootError: Fixed\.make has @Transactional\(\), but is not a route/],
  [UsingService, /^BootError: Service\.save has @Transactional\(\), but is not a handler.*session\.nested/],
  [UsingWhole, /^BootError: Whole has @Transactional\(false\), but is not a handler/],
  [UsingShared, /^BootError: Shared\.save has @Transactional\(\), but is not a handler/],
]

for (const [controller, message] of ignored)
  test(`@Transactional() that would be ignored fails at startup: ${controller.name}`, () => {
    assert.match(bootMessage([controller], { lifespan: memoryDatabase() }), message)
    assert.match(bootMessage([controller]), message)
  })

test('@Transactional() in an app without a database fails at startup, on a route and on a controller', () => {
  @Controller('/')
  class OnRoute {
    @Transactional({ readOnly: true })
    @Get()
    read() {
      return 'read'
    }
  }
  @Transactional({ retry: 2 })
  @Controller('/whole')
  class OnController {
    @Get() read() {
      return 'read'
    }
  }
  @Controller('/free')
  class Free {
    @Transactional(false)
    @Get()
    read() {
      return 'read'
    }
  }
  const advice =
    'has @Transactional(), but the app has no database. Write createApp({ lifespan }), or remove the decorator.'
  assert.equal(bootMessage([OnRoute]), `BootError: OnRoute.read ${advice}`)
  assert.equal(bootMessage([OnController]), `BootError: OnController ${advice}`)
  assert.equal(bootMessage([Free]), 'it started')
  assert.equal(bootMessage([OnRoute, OnController, Free], { lifespan: memoryDatabase() }), 'it started')
})

test('@Transactional() on a class that is provided in place of another fails at startup', () => {
  const lifespan = memoryDatabase()
  class Replaced {}
  @Controller('/')
  class Using {
    @Get() read(replaced: Replaced) {
      return replaced instanceof Service
    }
  }
  assert.match(
    bootMessage([Using], { lifespan, providers: [provide(Replaced, { class: Service })] }),
    /Service\.save has/,
  )
  assert.equal(
    bootMessage([Using], { lifespan, providers: [provide(Replaced, { value: new Replaced() })] }),
    'it started',
  )
})
