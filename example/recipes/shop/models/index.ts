import { Customer } from './customer.js'
import { Order } from './order.js'
import { OrderItem } from './order-item.js'
import { Product } from './product.js'

/** All models, in the order of their names. */
export const models = [Customer, Order, OrderItem, Product]

export { Customer, Order, OrderItem, Product }
