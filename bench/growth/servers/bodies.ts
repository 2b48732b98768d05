// An app, or node:http by hand, that receives JSON of any size, has it validated, and opens no database.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Controller, createApp, Field, Get, Post } from 'sequitur'
import { parameters, report } from './serve.js'

const LIMIT = 32 * 2 ** 20
// As long as the measurement takes, no server closes an idle connection.
const KEEP_ALIVE = 600_000

class Line {
  @Field({ maxLength: 20 }) sku!: string
  @Field({ type: 'integer', minimum: 1 }) count!: number
  @Field() open!: boolean
}
class Order {
  @Field() note!: string
  @Field({ type: [Line] }) lines!: Line[]
}

@Controller('/')
class Orders {
  @Get('/hello') hello() {
    return { hello: 'world' }
  }
  @Post('/orders') create({ note, lines }: Order) {
    return { length: note.length, lines: lines.length }
  }
}

async function ours(): Promise<number> {
  const app = createApp({
    controllers: [Orders],
    bodyLimit: LIMIT,
    logger: false,
    timeouts: { keepAlive: KEEP_ALIVE },
  })
  return (await app.listen(0)).port
}

function isOrder(value: unknown): value is Order {
  const { note, lines } = value as Order // each property is checked
  return typeof note === 'string' && Array.isArray(lines) && lines.every(isLine)
}

function isLine({ sku, count, open }: Line): boolean {
  return (
    typeof sku === 'string' && sku.length <= 20 && Number.isInteger(count) && count >= 1 && typeof open === 'boolean'
  )
}

async function byHand(): Promise<number> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE }, async (request, response) => {
    const send = (status: number, content: unknown) => {
      const body = Buffer.from(JSON.stringify(content))
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
    }
    if (request.url === '/hello') return send(200, { hello: 'world' })
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer) // no encoding is set
    const order: unknown = JSON.parse(Buffer.concat(chunks).toString())
    if (!isOrder(order)) return send(422, {})
    return send(201, { length: order.note.length, lines: order.lines.length })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port // a TCP server that listens
}

report(await (parameters[0] === 'by hand' ? byHand() : ours()))
