import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'

const HEAD = 'Host: 127.0.0.1\r\nContent-Type: application/json\r\n'

/** Clients that do not speak HTTP, or stop in the middle. None of them may get more than a refusal. */
const MESSAGES: readonly (() => string | Buffer)[] = [
  () => randomBytes(2_000),
  () => 'GET / HTTP/1.1\r\n',
  () => `POST /entries HTTP/1.1\r\n${HEAD}Content-Length: 100\r\n\r\n{"name":`,
  () => `POST /entries HTTP/1.1\r\n${HEAD}Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  () => `POST /entries HTTP/1.1\r\n${HEAD}Content-Length: 4\r\n\r\n{"a"`,
  () => `POST /entries HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
  () => `GET /entries?limit=1&next_cursor=${randomBytes(30).toString('hex')} HTTP/1.1\r\nHost: other.example\r\n\r\n`,
  () => `GET /entries/newest?next_cursor=${randomBytes(30).toString('hex')} HTTP/1.1\r\n${HEAD}\r\n`,
  () => `GET /%00%ff HTTP/1.1\r\n${HEAD}${'X-Many: header\r\n'.repeat(3_000)}\r\n`,
  () =>
    `POST /entries/uploads HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 60\r\n\r\n` +
    `--b\r\nContent-Disposition: form-data; name="content"; file`.padEnd(60, '-'),
]

/** Milliseconds that a client waits for a response. */
const PATIENCE = 300

/** Sends one of the messages on a connection of its own. @returns the statuses of the responses. */
export function sendGarbage(url: string): Promise<number[]> {
  const message = MESSAGES[Math.floor(Math.random() * MESSAGES.length)]?.() ?? ''
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => (text += chunk))
    socket.on('error', () => {}) // its 'close' follows
    socket.on('close', () => resolve([...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status))))
    setTimeout(() => socket.destroy(), PATIENCE)
    socket.write(message)
  })
}
