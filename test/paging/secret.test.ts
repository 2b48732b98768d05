import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { type TestContext, test } from 'node:test'
import { type AppOptions, Base, Controller, createApp, Get, Page as OffsetPage, Paginate, select } from 'sequitur'
import { Page, CursorPaginate } from 'sequitur/cursor'
import { memoryDatabase } from 'sequitur/testing'
import { Column, DataType, Table } from 'sequelize-typescript'
import { writeCursor } from '../../src/paging/cursor/cursor.js'
import { bindingOf } from '../support/forge.js'

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
}

const notes = () => select(Note, { order: ['id'] })

@Controller('/')
class Notes {
  @Get('/notes', Page.of(Note)) list(paginate: CursorPaginate<Note>) {
    return paginate(notes())
  }
  @Get('/more', Page.of(Note)) more(paginate: CursorPaginate<Note>) {
    return paginate(notes())
  }
}

@Controller('/')
class NotesByOffset {
  @Get('/notes', OffsetPage.of(Note)) list(paginate: Paginate<Note>) {
    return paginate(notes())
  }
}

function noteApp(t: TestContext, options: Partial<AppOptions> = {}) {
  const log: string[] = []
  const write = (line: string) => void log.push(line)
  const app = createApp({
    controllers: [Notes],
    models: [Note],
    lifespan: memoryDatabase(),
    logger: { info() {}, warn: write, error: write },
    ...options,
  })
  t.after(() => app.close())
  return { app, log }
}

/** Runs with the environment variable set, and removes it afterwards. */
async function withVariable(value: string, work: () => Promise<unknown>): Promise<void> {
  process.env['toolkit_cursor_secret'] = value
  await work().finally(() => delete process.env['toolkit_cursor_secret'])
}

test('without a secret an app with cursors warns once at its start, with what to set and why', async (t) => {
  const { app, log } = noteApp(t)
  app.openapi()
  assert.deepEqual(log, [])
  await app.start()
  await app.inject('/notes')
  await app.inject('/more')
  assert.equal(log.length, 1)
  for (const part of [/cursorSecret/, /toolkit_cursor_secret/, /Other processes reject them/, /restart/])
    assert.match(log.join(), part)
})

for (const [what, options] of [
  ['a secret', { cursorSecret: 'sixteen letters!' }],
  ['no cursors', { controllers: [NotesByOffset] }],
] as const) {
  test(`an app with ${what} does not warn`, async (t) => {
    const { app, log } = noteApp(t, options)
    await app.start()
    assert.deepEqual(log, [])
  })
}

test('an app with a secret in the environment does not warn', async (t) => {
  const { app, log } = noteApp(t)
  await withVariable('sixteen letters!', () => app.start())
  assert.deepEqual(log, [])
})

test('a cursor signed with the former default key is refused', async (t) => {
  const { app } = noteApp(t)
  await app.start()
  const forged = writeCursor({ place: ['i1'], shared: 0 }, bindingOf(notes(), 'sequitur'))
  assert.equal((await app.inject(`/notes?next_cursor=${forged}`)).statusCode, 422)
})

test('a secret that can be guessed fails at startup, wherever it is set', async (t) => {
  for (const secret of ['', 'fifteen letters'])
    assert.throws(
      () => noteApp(t, { cursorSecret: secret }),
      /^BootError: createApp\(\): cursorSecret has \d+ characters.*at least 16/,
    )
  const other = noteApp(t).app
  await withVariable('fifteen letters', () =>
    assert.rejects(other.start(), /^BootError: toolkit_cursor_secret has 15 characters.*openssl rand/),
  )
})

test('an empty secret in the environment is none, as with every other variable', async (t) => {
  const { app, log } = noteApp(t)
  await withVariable('', () => app.start())
  assert.match(log.join('\n'), /No secret for cursors is set/)
})

test('the digest of any cursor is compared in constant time', async (t) => {
  const compared = t.mock.method(crypto, 'timingSafeEqual')
  syncBuiltinESMExports()
  t.after(syncBuiltinESMExports)
  const { app } = noteApp(t, { cursorSecret: 'a secret of the tests' })
  const { list } = bindingOf(notes(), '')
  const written = writeCursor({ place: ['1'], shared: 0 }, { key: 'another secret of the tests', list }) ?? ''
  for (const cursor of [written, `${written.slice(0, -2)}AA`, 'A'.repeat(40)]) {
    const before = compared.mock.callCount()
    assert.equal((await app.inject(`/notes?next_cursor=${cursor}`)).statusCode, 422)
    assert.equal(compared.mock.callCount(), before + 1)
  }
})
