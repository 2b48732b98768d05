// What it costs to send a file of 100 MB: file(), and createReadStream() with pipe() by hand and the same headers.
//   npm run build && node --import tsx --import sequitur/register bench/files.ts [rounds] [MB]
// Each server is a process of its own, whose CPU is counted. Rounds are interleaved; read the ratio, not the milliseconds.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Controller, createApp, file, Get } from 'sequitur'

const [ROUNDS = 9, MEGABYTES = 100] = process.argv.slice(2).map(Number)
const TYPE = 'application/octet-stream'
const path = process.env['BENCH_FILE'] ?? ''

@Controller('/')
class Files {
  @Get('/', { produces: TYPE }) get() {
    return file(path, { type: TYPE })
  }
}

const servers: Readonly<Record<string, () => Promise<number>>> = {
  async sequitur() {
    return (await createApp({ controllers: [Files], logger: false }).listen(0)).port
  },
  async 'node:http'() {
    const server = createServer((_, response) => {
      response.writeHead(200, {
        'content-type': TYPE,
        'content-length': statSync(path).size,
        'x-request-id': crypto.randomUUID(),
        'x-content-type-options': 'nosniff',
      })
      createReadStream(path).pipe(response)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port // a TCP server that listens
  },
}

async function download(port: number): Promise<void> {
  const [response] = await once(get({ port }), 'response')
  let size = 0
  response.on('data', (chunk: Buffer) => (size += chunk.length))
  await once(response, 'end')
  if (size !== MEGABYTES * 1e6) throw new Error(`The response has ${size} bytes.`)
}

/** A server; `cpu()` are its milliseconds of CPU since the last call. */
async function start(name: string) {
  const child = fork(new URL(import.meta.url), ['--serve', name])
  const [port] = (await once(child, 'message')) as [number] // its first message
  const cpu = async (): Promise<number> => {
    child.send('cpu')
    return ((await once(child, 'message')) as [number])[0] // its answer
  }
  return { port, cpu, stop: () => child.kill() }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number
}

async function compare(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-bench-'))
  process.env['BENCH_FILE'] = join(folder, 'file')
  writeFileSync(process.env['BENCH_FILE'], Buffer.alloc(MEGABYTES * 1e6, 'x'))
  const [app, byHand] = [await start('sequitur'), await start('node:http')]
  try {
    const measured: { readonly app: number; readonly byHand: number }[] = []
    const cpuOf = async ({ port, cpu }: typeof app) => {
      await cpu()
      await download(port)
      return cpu()
    }
    for (let round = 0; round < ROUNDS + 3; round++)
      measured.push({ app: await cpuOf(app), byHand: await cpuOf(byHand) })
    const counted = measured.slice(3) // until the programs are compiled
    const ratio = median(counted.map((one) => one.app / one.byHand))
    const [own, other] = [median(counted.map((one) => one.app)), median(counted.map((one) => one.byHand))]
    console.log(
      `${MEGABYTES} MB: file() ${own.toFixed(0)} ms of CPU, by hand ${other.toFixed(0)}; ratio ${ratio.toFixed(2)}, of the sums ${(sum(counted.map((one) => one.app)) / sum(counted.map((one) => one.byHand))).toFixed(2)}`,
    )
  } finally {
    app.stop()
    byHand.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

const served = process.argv[2] === '--serve' ? servers[process.argv[3] ?? ''] : undefined
if (served) {
  let last = process.cpuUsage()
  process.on('message', () => {
    const { user, system } = process.cpuUsage(last)
    last = process.cpuUsage()
    process.send?.((user + system) / 1000)
  })
  process.on('disconnect', () => process.exit())
  process.send?.(await served())
} else await compare()
