import {
  Controller,
  createApp,
  dto,
  Field,
  Get,
  Item,
  lifespan,
  notFound,
  Page,
  Paginate,
  select,
  Session,
} from 'sequitur'
import { Customer, models, Order, Product } from './models/index.js'

class OrderModel extends dto(Order, { pick: ['id', 'placedAt'] }) {
  @Field({ optional: true }) customer?: Customer
  @Field({ type: [Product], optional: true }) products?: Product[]
}

@Controller('/orders')
export class OrderController {
  @Get('/', Page.of(Order))
  list(paginate: Paginate<Order>) {
    return paginate(select(Order, { order: [['placedAt', 'DESC']] }))
  }

  @Get('/:orderId', Item.of(OrderModel), { errors: { 404: 'Order not found' } })
  async get(orderId: number, session: Session) {
    const order = await session.get(Order, orderId, { include: [Customer, Product] })
    return { data: order ?? notFound('Order not found') }
  }
}

await createApp({ controllers: [OrderController], models, lifespan }).listen(Number(process.env['PORT'] ?? 8000))
