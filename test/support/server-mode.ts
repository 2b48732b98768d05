import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { connectTo, listen } from './cutting-proxy.js'

/*
 * A MySQL or MariaDB server in another mode, for one test: SET GLOBAL would change it for all who use the server meanwhile.
 * Source: MariaDB, "Client/Server Protocol", and MySQL, "Connection Phase".
 */

/** The first byte of the packet that ends the authentication of a client. */
const OK = 0x00
/** Packets begin with their length, in three bytes, and their number. */
const HEADER = 4
const COM_QUERY = 0x03

/**
 * A proxy to a server, on whose connections the server is in the mode from their begin on.
 *
 * @returns the URL of the server, through this proxy.
 */
export async function inServerMode(t: TestContext, url: string, mode: string): Promise<string> {
  const server = new URL(url)
  server.port ||= '3306'
  const proxy = new URL(
    await listen(t, (client) => {
      const upstream = connectTo(server.href, client)
      client.pipe(upstream)
      setMode(client, upstream, mode)
    }),
  )
  return Object.assign(new URL(url), { hostname: proxy.hostname, port: proxy.port }).href
}

/** Forwards what the server sends. Before the client is told that it is connected, the mode is set: the answer of that has the server's state in the mode. */
function setMode(client: Socket, upstream: Socket, mode: string): void {
  let bytes = Buffer.alloc(0)
  let numberOfOk: number | undefined
  const receive = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    while (bytes.length >= HEADER && bytes.length >= HEADER + bytes.readUIntLE(0, 3)) {
      const end = HEADER + bytes.readUIntLE(0, 3)
      const packet = Buffer.from(bytes.subarray(0, end))
      bytes = bytes.subarray(end)
      if (packet[HEADER] !== OK) client.write(packet)
      else if (numberOfOk === undefined) {
        numberOfOk = packet[3]
        upstream.write(query(`SET SESSION sql_mode = '${mode}'`))
      } else {
        packet[3] = numberOfOk ?? 0
        upstream.off('data', receive).pipe(client)
        client.write(Buffer.concat([packet, bytes]))
        return
      }
    }
  }
  upstream.on('data', receive)
}

function query(sql: string): Buffer {
  const header = Buffer.alloc(HEADER + 1)
  header.writeUIntLE(1 + Buffer.byteLength(sql), 0, 3)
  header[HEADER] = COM_QUERY
  return Buffer.concat([header, Buffer.from(sql)])
}
