import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'

/** A server that takes mail and delivers none. */
export interface MailServer {
  readonly url: string
  /** The messages, with their headers. */
  readonly messages: readonly string[]
  /** Refuses so many messages, as a server that is overloaded. */
  refuse(count: number): void
}

export async function mailServer(t: TestContext): Promise<MailServer> {
  const messages: string[] = []
  let refused = 0
  const server = createServer((socket) => {
    const say = (line: string) => socket.write(`${line}\r\n`)
    let message: string[] | undefined
    socket.on('error', () => {})
    say('220 ready')
    createInterface({ input: socket }).on('line', (line) => {
      if (message) {
        if (line !== '.') return void message.push(line)
        const isRefused = refused-- > 0
        if (!isRefused) messages.push(message.join('\n'))
        message = undefined
        say(isRefused ? '451 try again later' : '250 taken')
      } else if (line.toUpperCase() === 'DATA') {
        message = []
        say('354 send it')
      } else if (line.toUpperCase() === 'QUIT') socket.end('221 bye\r\n')
      else say('250 ok')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    refuse: (count) => void (refused = count),
  }
}
