// Two apps in one process on the same database: one in the main thread, one in a worker, which requests to the first start, close and terminate.
// The rule is about windows of a browser.
// oxlint-disable unicorn/require-post-message-target-origin
import { once } from 'node:events'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, Get, newLifespan, Post, Transactional } from 'sequitur'

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
}

@Controller('/notes')
class Notes {
  @Post('/:name') async create(name: string) {
    await Note.create({ name })
  }
  @Get('/') async list() {
    return { names: (await Note.findAll()).map(({ name }) => name) }
  }
}

let worker: Worker | undefined

@Controller('/worker')
class Workers {
  @Post('/start') @Transactional(false) async start() {
    worker = new Worker(new URL(import.meta.url))
    worker.on('error', console.log)
    const [url] = (await once(worker, 'message')) as [string]
    return { url }
  }
  @Post('/close') @Transactional(false) async close() {
    worker?.postMessage('close')
    if (worker) await once(worker, 'message')
  }
  @Post('/terminate') @Transactional(false) async terminate() {
    await worker?.terminate()
  }
}

const url = process.env['DATABASE'] ?? ''
const app = createApp({
  controllers: isMainThread ? [Notes, Workers] : [Notes],
  models: [Note],
  lifespan: newLifespan(url, { sync: isMainThread, echo: false }),
  logger: { info() {}, warn: console.log, error: console.log },
})
const listening = await app.listen(0)
if (isMainThread) console.log(`Listening on ${listening.url}, documentation at ${listening.url}/docs`)
parentPort?.postMessage(listening.url)
parentPort?.once('message', () => void app.close().then(() => parentPort?.postMessage('closed')))
