import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { freePort } from '../support/postgres-server.js'
import { until } from '../support/waiting.js'

/*
 * Brokers that a test starts, kills and starts again, each with a folder and ports of its own.
 */

/** An event as a broker has stored it. */
export interface Stored {
  readonly id: string
  readonly topic: string
  readonly n: number
}

/** A broker that runs. */
export interface OpenBroker {
  readonly url: string
  /** Kills it, and starts it with what it has on the disk. */
  restart(): Promise<void>
  /** All that it has stored, in its order. */
  stored(): Promise<readonly Stored[]>
}

export interface Broker {
  readonly name: string
  readonly programs: readonly string[]
  /** The program that relays to it. */
  readonly relay: string
  /** The variable that its program reads its address from. */
  readonly variable: string
  /** Whether it drops what it has already. */
  readonly dropsRepeats: boolean
  open(t: TestContext): Promise<OpenBroker>
}

async function answers(port: number): Promise<boolean> {
  const socket = connectTcp(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** A server process that is killed at the end of the test. */
async function serve(
  t: TestContext,
  port: number,
  command: readonly [string, ...string[]],
  env: Readonly<Record<string, string>> = {},
): Promise<{ restart(): Promise<void> }> {
  let child: ChildProcess | undefined
  const start = async () => {
    // A group of its own: the server may be a child of a script.
    child = spawn(command[0], command.slice(1), { stdio: 'ignore', detached: true, env: { ...process.env, ...env } })
    await until(`${command[0]} answers`, () => answers(port), 100, 60_000)
  }
  const kill = async () => {
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    process.kill(-child.pid, 'SIGKILL')
    await ended
    await until(`${command[0]} is gone`, async () => !(await answers(port)), 20)
  }
  t.after(kill)
  await start()
  return {
    async restart() {
      await kill()
      await start()
    },
  }
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-broker-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))
  return folder
}

interface Message {
  readonly topic: string
  readonly data: { readonly id: number }
}

const redis: Broker = {
  name: 'Redis streams',
  programs: ['redis-server'],
  relay: 'example/recipes/relays/redis.ts',
  variable: 'REDIS_URL',
  dropsRepeats: true,
  async open(t) {
    const port = await freePort()
    const folder = folderOf(t)
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always']
    const address = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder]
    const { restart } = await serve(t, port, ['redis-server', ...address, ...durable])
    const url = `redis://127.0.0.1:${port}`
    return {
      url,
      restart,
      async stored() {
        const { Redis } = await import('ioredis')
        const client = new Redis(url)
        try {
          const stored: Stored[] = []
          for (const key of await client.keys('example.heroes:*'))
            for (const [, [, id = '', , data = '']] of await client.xrange(key, '-', '+'))
              stored.push({
                id,
                topic: key.slice('example.heroes:'.length),
                n: (JSON.parse(data) as Message['data']).id,
              })
          return stored
        } finally {
          client.disconnect()
        }
      },
    }
  },
}

export const nats: Broker = {
  name: 'NATS JetStream',
  programs: ['nats-server'],
  relay: 'example/recipes/relays/nats.ts',
  variable: 'NATS_URL',
  dropsRepeats: true,
  async open(t) {
    const { connect } = await import('@nats-io/transport-node')
    const { jetstream, jetstreamManager } = await import('@nats-io/jetstream')
    const port = await freePort()
    const folder = folderOf(t)
    const { restart } = await serve(t, port, [
      'nats-server',
      '-js',
      '-a',
      '127.0.0.1',
      '-p',
      String(port),
      '-sd',
      folder,
    ])
    const url = `nats://127.0.0.1:${port}`
    const connection = await connect({ servers: url, maxReconnectAttempts: -1, reconnectTimeWait: 100 })
    t.after(() => connection.close())
    const manager = await jetstreamManager(connection)
    await manager.streams.add({ name: 'example', subjects: ['example.heroes'] })
    return {
      url,
      restart,
      async stored() {
        const { state } = await manager.streams.info('example')
        const consumer = await jetstream(connection).consumers.get('example')
        const stored: Stored[] = []
        while (stored.length < state.messages) {
          const batch = await consumer.fetch({ max_messages: state.messages - stored.length, expires: 2_000 })
          for await (const message of batch) {
            const body = message.json<Message | Message['data']>()
            const { topic, data } = 'data' in body ? body : { topic: '', data: body }
            stored.push({ id: message.headers?.get('Nats-Msg-Id') ?? '', topic, n: data.id })
          }
        }
        return stored
      },
    }
  },
}

const rabbitmq: Broker = {
  name: 'RabbitMQ',
  programs: ['/usr/lib/rabbitmq/bin/rabbitmq-server'],
  relay: 'example/recipes/relays/rabbitmq.ts',
  variable: 'AMQP_URL',
  dropsRepeats: false,
  async open(t) {
    const { connect } = await import('amqplib')
    const port = await freePort()
    const folder = folderOf(t)
    const config = join(folder, 'rabbitmq.conf')
    writeFileSync(config, `listeners.tcp.1 = 127.0.0.1:${port}\n`)
    const { restart } = await serve(t, port, ['/usr/lib/rabbitmq/bin/rabbitmq-server'], {
      HOME: folder,
      RABBITMQ_NODENAME: `sequitur${port}@localhost`,
      RABBITMQ_DIST_PORT: String(await freePort()),
      RABBITMQ_CONF_ENV_FILE: join(folder, 'none'),
      RABBITMQ_CONFIG_FILE: config,
      RABBITMQ_MNESIA_BASE: folder,
      RABBITMQ_LOG_BASE: folder,
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    })
    const url = `amqp://127.0.0.1:${port}`
    return {
      url,
      restart,
      async stored() {
        const connection = await connect(url)
        try {
          const channel = await connection.createChannel()
          await channel.assertQueue('example.heroes', { durable: true })
          const stored: Stored[] = []
          for (
            let message = await channel.get('example.heroes');
            message;
            message = await channel.get('example.heroes')
          ) {
            const { topic, data } = JSON.parse(message.content.toString()) as Message
            stored.push({ id: String(message.properties.messageId), topic, n: data.id })
          }
          return stored // they are given back when the connection is closed
        } finally {
          await connection.close()
        }
      },
    }
  },
}

export const brokers: readonly Broker[] = [redis, nats, rabbitmq]
