import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, guard, Post, select, Session } from 'sequitur'
import { api } from '../support/api.js'
import { databaseApp, sqliteFile } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'

/*
 * Objects with a then() that are no promises: those of other libraries need not return anything from it, and `await` does not ask for that.
 */

/** The work as such an object. */
function lazily<T>(work: () => Promise<T>): Promise<T> {
  const thenable = {
    // oxlint-disable-next-line unicorn/no-thenable
    then(resolve: (value: T) => void, reject: (error: unknown) => void) {
      void work().then(resolve, reject)
    },
  }
  return thenable as unknown as Promise<T> // to the compiler, then() returns a promise
}

const nobody = guard([], () => lazily(async () => false))

test('a guard that refuses by such an object refuses', async (t) => {
  @Controller('/')
  class Secrets {
    @Get('/', { requires: [nobody] }) read() {
      return 'secret'
    }
  }
  const { fetch } = await api(t, [Secrets])
  assert.equal((await fetch('/')).status, 403)
})

test('a handler that returns such an object is waited for, and rolled back if it fails', async (t) => {
  @Controller('/')
  class Heroes {
    @Post('/:name') create(name: string, session: Session) {
      return lazily(async () => {
        await Hero.create({ name })
        await session.count(select(Hero))
        if (name === 'bad') throw new Error('This hero is bad.')
        return { name }
      })
    }
  }
  const { fetch } = await databaseApp(t, sqliteFile, [Team, Hero], [Heroes])
  const post = { method: 'POST' }
  assert.equal((await fetch('/bad', post)).status, 500)
  assert.deepEqual(await (await fetch('/good', post)).json(), { name: 'good' })
  assert.deepEqual(
    (await Hero.findAll()).map(({ name }) => name),
    ['good'],
  )
})

/** Its then() returns nothing, as `await` allows. */
class Lazy<T> extends Promise<T> {
  // oxlint-disable-next-line unicorn/no-thenable
  override then(...args: Parameters<Promise<T>['then']>): never {
    return void super.then(...args) as never
  }
}

test('a handler that returns an instance of a subclass of Promise is waited for', async (t) => {
  @Controller('/')
  class Lazies {
    @Get('/') read() {
      return Lazy.resolve('read')
    }
    @Post('/:name') async create(name: string, _session: Session) {
      await Hero.create({ name })
      return { name: await Lazy.resolve(name) }
    }
    @Post('/') at(_session: Session) {
      return Lazy.resolve('without a statement')
    }
  }
  const { fetch } = await databaseApp(t, sqliteFile, [Team, Hero], [Lazies])
  assert.equal(await (await fetch('/')).json(), 'read')
  assert.deepEqual(await (await fetch('/Robin', { method: 'POST' })).json(), { name: 'Robin' })
  assert.equal(await (await fetch('/', { method: 'POST' })).json(), 'without a statement')
})

test('a promise in a value that is not sent does not end the process when it fails', async (t) => {
  @Controller('/')
  class Forgetful {
    @Get('/') read() {
      return { part: Promise.reject(new Error('nobody awaits this')) }
    }
  }
  const { fetch, log } = await api(t, [Forgetful])
  assert.equal((await fetch('/')).status, 500)
  await new Promise((resolve) => setImmediate(resolve))
  assert.match(log.join('\n'), /a Promise at \/part\. It was not awaited\. Write await\./)
})
