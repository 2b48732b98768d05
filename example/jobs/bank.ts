import { Injectable } from 'sequitur'

/** A service outside: it makes one payment for each key. */
@Injectable({ lifetime: 'application' })
export class Bank {
  readonly #receipts = new Map<string, { readonly order: number; readonly receipt: string }>()

  async charge(order: number, { key, signal }: { readonly key: string; readonly signal: AbortSignal }) {
    signal.throwIfAborted()
    const payment = this.#receipts.get(key) ?? { order, receipt: `receipt ${this.#receipts.size + 1}` }
    this.#receipts.set(key, payment)
    return payment
  }

  async paidOrders(): Promise<number[]> {
    return [...this.#receipts.values()].map(({ order }) => order)
  }

  get payments(): number {
    return this.#receipts.size
  }
}
