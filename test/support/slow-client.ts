import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { until } from './waiting.js'

/** A client of one request, which reads when the test wants it to. */
export class SlowClient {
  readonly #socket: Socket
  text = ''
  isClosed = false

  constructor(t: TestContext, url: string, path: string, accept = 'application/x-ndjson') {
    const { port, hostname } = new URL(url)
    this.#socket = connect({ port: Number(port), host: hostname })
    t.after(() => this.#socket.destroy())
    this.#socket.setEncoding('utf8')
    this.#socket.on('data', (chunk: string) => (this.text += chunk))
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => (this.isClosed = true))
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAccept: ${accept}\r\nConnection: close\r\n\r\n`)
  }

  /** Reads until the head has arrived, and no further. */
  async head(): Promise<string> {
    await until('the head arrives', () => this.text.includes('\r\n\r\n'), 1)
    this.#socket.pause()
    return this.text.slice(0, this.text.indexOf('\r\n\r\n'))
  }

  readOn(): void {
    this.#socket.resume()
  }

  pause(): void {
    this.#socket.pause()
  }

  leave(): void {
    this.#socket.destroy()
  }

  /** Whether the response has the end of a chunked body. */
  get isWhole(): boolean {
    return this.text.endsWith('\r\n0\r\n\r\n')
  }
}
