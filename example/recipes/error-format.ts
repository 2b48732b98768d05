import { Controller, createApp, errorFormat, Field, HttpError, mapError, Post } from 'sequitur'

class OutOfStock extends Error {}
class PaymentDeclined extends Error {
  readonly code = 'declined'
}

class Messages {
  @Field({ type: [String] }) body!: string[]
}
class ErrorBody {
  @Field() errors!: Messages
}

@Controller('/orders')
class OrderController {
  @Post('/:item_id', { status: 204, errors: { 402: 'The payment was declined', 409: 'It is out of stock' } })
  order(item_id: number) {
    if (item_id === 1) throw new OutOfStock('It is out of stock')
    if (item_id === 2) throw new PaymentDeclined('The payment was declined')
  }
}

export const app = createApp({
  controllers: [OrderController],
  errors: {
    mappings: [
      mapError(OutOfStock, 409),
      mapError(PaymentDeclined, ({ message, code }) => new HttpError(402, `${message} (${code})`)),
    ],
    format: errorFormat(ErrorBody, ({ title, detail = title, errors = [] }) => ({
      errors: { body: errors.length > 0 ? errors.map(({ path, message }) => `${path.slice(1)} ${message}`) : [detail] },
    })),
  },
})
