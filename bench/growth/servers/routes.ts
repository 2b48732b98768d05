// An app with so many routes, five of each controller, with inputs of the path, the query and the body, and classes of their own.
import { Controller, createApp, Delete, Field, Get, Post, Put, Query } from 'sequitur'
import { parameters, report } from './serve.js'

const ROUTES_OF_CONTROLLER = 5
const routes = Number(parameters[0])

function controllerOf(number: number): new () => object {
  const named = (type: object, name: string) => Object.defineProperty(type, 'name', { value: name + number })

  class Line {
    static {
      named(this, 'Line')
    }
    @Field({ minLength: 1, maxLength: 20 }) sku!: string
    @Field({ type: 'integer', minimum: 1, maximum: 1000 + number }) count!: number
  }
  class NewOrder {
    static {
      named(this, 'NewOrder')
    }
    @Field({ minLength: 1, maxLength: 200 }) title!: string
    @Field({ minimum: 0, maximum: 100_000 }) amount!: number
    @Field({ type: [Line], maxItems: 50 }) lines!: Line[]
  }
  class Order extends NewOrder {
    static {
      named(this, 'Order')
    }
    @Field({ type: 'integer' }) id!: number
  }

  const order = { id: 1, title: 'a title', amount: 3, lines: [{ sku: 'A-1', count: 2 }] }

  @Controller(`/orders${number}`)
  class Orders {
    static {
      named(this, 'Orders')
    }
    @Get('/', [Order]) list(@Query() limit: number) {
      return Array.from({ length: limit }, () => order)
    }
    @Get('/:id', Order) get(id: number) {
      return { ...order, id }
    }
    @Post('/', Order) create(body: NewOrder) {
      return { ...body, id: 1 }
    }
    @Put('/:id', Order) update(id: number, body: NewOrder) {
      return { ...body, id }
    }
    @Delete('/:id') remove(id: number) {
      void id
    }
  }
  return Orders
}

const controllers = Array.from({ length: routes / ROUTES_OF_CONTROLLER }, (_, number) => controllerOf(number))
const app = createApp({ controllers, logger: false })
report((await app.listen(0)).port)
