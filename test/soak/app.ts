// The app of the soak, a process of its own: its database is the environment's, and the parent process asks it for its memory.
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import {
  conflict,
  Controller,
  createApp,
  Delete,
  Events,
  events,
  Field,
  file,
  Get,
  Item,
  newLifespan,
  notFound,
  Page,
  Paginate,
  Post,
  Put,
  select,
  Session,
  Transactional,
  withSession,
} from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { File, Multipart, UploadedFile } from 'sequitur/uploads'
import { Counter, COUNTERS, Entry, models } from './models.js'
import type { Report, Usage } from './server.js'

const report = (message: Report) => void process.send?.(message)
const database = newLifespan(undefined, { models, sync: true, statementTimeout: 4_000, lockTimeout: 3_000 })
const content = join(tmpdir(), 'content.bin')
writeFileSync(content, Buffer.alloc(1_000_000, 'sequitur'))
let delivered = 0

class NewEntry {
  @Field({ minLength: 1, maxLength: 60 }) name!: string
}
class Upload {
  @Field({ minLength: 1, maxLength: 60 }) name!: string
  @File({ maxSize: 2_000_000 }) content!: UploadedFile
}
class Tick {
  @Field({ type: 'integer' }) count!: number
}
class Undone extends Error {}

@Transactional({ retry: 3 })
@Controller('/entries')
class Entries {
  @Get('/', Page.of(Entry)) list(paginate: Paginate<Entry>) {
    return paginate(select(Entry))
  }
  @Get('/newest', CursorPage.of(Entry)) newest(paginate: CursorPaginate<Entry>) {
    return paginate(select(Entry, { order: [['id', 'DESC']] }))
  }
  @Get('/:id', Item.of(Entry)) async get(id: number, session: Session) {
    return { data: (await session.get(Entry, id)) ?? notFound('There is no such entry.') }
  }
  @Post('/', Item.of(Entry)) create({ name }: NewEntry, session: Session) {
    session.afterCommit(() => void delivered++)
    return { data: session.add(Entry.build({ name })) }
  }
  @Post('/refused', Item.of(Entry)) async refused({ name }: NewEntry) {
    await Entry.create({ name })
    return conflict('Inserted, and refused.')
  }
  /** Three inserts, of which the second is undone. */
  @Post('/nested', Item.of(Entry)) async nested({ name }: NewEntry, session: Session) {
    const data = await session.nested(() => Entry.create({ name }))
    const undone = session.nested(async () => {
      await Entry.create({ name: `${name}-undone` })
      throw new Undone()
    })
    await undone.catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
    await Entry.create({ name: `${name}-second` })
    return { data }
  }
  @Post('/uploads', Item.of(Entry)) async upload(@Multipart() { name, content }: Upload) {
    let bytes = 0
    for await (const chunk of content.stream()) bytes += (chunk as Buffer).length
    return { data: await Entry.create({ name, bytes }) }
  }
  @Delete('/named/:name', { status: 204 }) async delete(name: string) {
    if ((await Entry.destroy({ where: { name } })) === 0) notFound('There is no such entry.')
  }
}

@Controller('/counters')
class Counters {
  /** Reads and writes, so that a lost update would show. */
  @Transactional({ retry: 5 })
  @Put('/:id', Item.of(Counter))
  async increment(id: number, session: Session) {
    const counter = (await session.get(Counter, id, { lock: true })) ?? notFound('There is no such counter.')
    return { data: await counter.update({ count: counter.count + 1 }) }
  }
  @Transactional({ readOnly: true })
  @Get('/:id', Item.of(Counter))
  async get(id: number, session: Session) {
    return { data: (await session.get(Counter, id)) ?? notFound('There is no such counter.') }
  }
}

async function* ticks(signal: AbortSignal) {
  for (;;) {
    const counter = await withSession(database, (session) => session.get(Counter, 0))
    yield { data: { count: counter?.count ?? 0 } }
    await wait(20, undefined, { signal })
  }
}

@Controller('/')
class Others {
  @Get('/events', Events.of(Tick)) events(signal: AbortSignal) {
    return events(ticks(signal))
  }
  @Get('/content', { produces: 'application/octet-stream' }) content() {
    return file(content, { type: 'application/octet-stream' })
  }
}

const app = createApp({
  controllers: [Entries, Counters, Others],
  lifespan: database,
  health: true,
  cursorSecret: 'the same in all runs',
  maxConnections: 300,
  timeouts: { handler: 6_000, request: 10_000, headers: 5_000, write: 10_000 },
  logger: {
    info() {},
    warn: (text) => report({ kind: 'log', level: 'warn', text }),
    error: (text) => report({ kind: 'log', level: 'error', text }),
  },
})
const { url } = await app.listen(0)
await withSession(database, async (session) => {
  session.addAll(Counter.bulkBuild(Array.from({ length: COUNTERS }, (_, id) => ({ id, count: 0 }))))
})

async function usage(): Promise<Usage> {
  // Twice, with a turn of the event loop between, as finalizers of the first may free more.
  for (let n = 0; n < 2; n++) {
    globalThis.gc?.()
    await wait(50)
  }
  const { heapUsed, rss, external } = process.memoryUsage()
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  return { heapUsed, rss, external, timers, delivered }
}

process.on('message', async () => report({ kind: 'usage', usage: await usage() }))
// The parent process is gone: so is its database.
process.once('disconnect', () => process.exit())
report({ kind: 'listening', url })
