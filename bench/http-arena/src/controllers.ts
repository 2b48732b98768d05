import { extname } from 'node:path'
import compression from 'compression'
import { Controller, file, Get, Inject, named, Post, Query, Request, select, Session, token } from 'sequitur'
import { Op } from 'sequelize'
import { Item, ItemView, PricedItem, viewOf } from './item.js'

/** The items of the benchmark's file. */
export const dataset = token<readonly ItemView[]>('dataset')

const text = (value: number | string) => file(Buffer.from(String(value)), { type: 'text/plain' })
const OF_TEXT = { status: 200, produces: 'text/plain' } as const

@Controller('/')
export class TextController {
  @Get('/pipeline', OF_TEXT)
  pipeline() {
    return text('ok')
  }

  @Get('/baseline11', OF_TEXT)
  add(a: number, b: number) {
    return text(a + b)
  }

  @Get('/baseline2', OF_TEXT)
  addOverHttp2(a: number, b: number) {
    return text(a + b)
  }

  @Post('/baseline11', OF_TEXT)
  async addBody(a: number, b: number, { raw }: Request) {
    const chunks: Buffer[] = await raw.toArray()
    return text(a + b + Number(Buffer.concat(chunks)))
  }

  @Post('/upload', OF_TEXT)
  async upload({ raw }: Request) {
    let bytes = 0
    for await (const chunk of raw) bytes += (chunk as Buffer).length
    return text(bytes)
  }
}

const PricedItems = named('PricedItems', { items: [PricedItem], count: 'integer' })
const Items = named('Items', { items: [ItemView], count: 'integer' })

@Controller('/json', { middleware: [compression()] })
export class JsonController {
  constructor(@Inject(dataset) private readonly all: readonly ItemView[]) {}

  @Get('/:count', PricedItems)
  list(count: number, m: number = 1) {
    const items = this.all.slice(0, count).map((item) => ({ ...item, total: item.price * item.quantity * m }))
    return { items, count: items.length }
  }
}

@Controller('/async-db')
export class ItemController {
  @Get('/', Items)
  async find(
    session: Session,
    @Query({ type: 'integer', default: 10 }) min: number,
    @Query({ type: 'integer', default: 50 }) max: number,
    @Query({ type: 'integer', default: 50 }) limit: number,
  ) {
    const where = { price: { [Op.between]: [min, max] as [number, number] } }
    const found = await session.all(select(Item, { where, limit: Math.min(Math.max(limit, 1), 50) }))
    return { items: found.map(viewOf), count: found.length }
  }
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
}

@Controller('/static')
export class StaticController {
  @Get('/:name', { produces: '*/*' })
  get(name: string) {
    return file(name, {
      root: process.env['STATIC'] ?? '/data/static',
      type: TYPES[extname(name)] ?? 'application/octet-stream',
    })
  }
}
