import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Transcode } from '../../example/jobs/video.js'
import { until } from '../support/waiting.js'

/*
 * The servers that the relays of docs/job-engines.md publish to. What the tests create in them has names that begin with "example".
 */

export type RelayJobs = new () => { relay(input: Transcode, ...services: never[]): Promise<void> }

/** A server to which jobs are relayed. */
export interface Engine {
  readonly name: string
  readonly port: number
  readonly packages: readonly string[]
  /** Of example/jobs. */
  readonly program: string
  jobs(): Promise<RelayJobs>
  /** Without messages. */
  open(t: TestContext): Promise<OpenEngine>
  /** Whether the server drops a message that it has already. */
  readonly dropsRepeats: boolean
}

export interface OpenEngine {
  /** Those of its messages. */
  keys(): Promise<readonly string[]>
  /** Removes what takes the messages; undefined if there is no such thing. */
  readonly close?: () => Promise<unknown>
  readonly reopen?: () => Promise<unknown>
  /** Publishes a message, as a program of the engine does. */
  repeat(key: string): Promise<unknown>
  /** Lets the engine forget the keys of messages that were consumed. */
  consumeAndForget?(): Promise<unknown>
}

export const bullmq: Engine = {
  name: 'BullMQ',
  port: 6379,
  packages: ['bullmq', 'ioredis'],
  program: 'relay-bullmq',
  dropsRepeats: true,
  jobs: async () => (await import('../../example/jobs/relay-bullmq.js')).VideoJobs,
  async open(t) {
    const { Queue, Worker } = await import('bullmq')
    const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null }
    const queue = new Queue('example', { connection })
    await queue.obliterate({ force: true })
    t.after(async () => {
      await queue.obliterate({ force: true })
      await queue.close()
    })
    return {
      keys: async () => (await queue.getJobs(['waiting', 'completed'])).map(({ id }) => String(id)),
      repeat: (key) => queue.add('transcode', {}, { jobId: key, removeOnComplete: true }),
      async consumeAndForget() {
        const worker = new Worker('example', async () => {}, { connection })
        await until('all have run', async () => (await queue.count()) === 0)
        await worker.close()
        await queue.clean(0, 100, 'completed')
      },
    }
  },
}

export const rabbitmq: Engine = {
  name: 'RabbitMQ',
  port: 5672,
  packages: ['amqplib'],
  program: 'relay-rabbitmq',
  dropsRepeats: false,
  jobs: async () => (await import('../../example/jobs/relay-rabbitmq.js')).VideoJobs,
  async open(t) {
    const amqp = await import('amqplib')
    const connection = await amqp.connect('amqp://127.0.0.1:5672')
    const channel = await connection.createConfirmChannel()
    const queue = 'example.transcode'
    await channel.deleteQueue(queue)
    await channel.assertQueue(queue, { durable: true })
    t.after(async () => {
      await channel.deleteQueue(queue)
      await connection.close()
    })
    return {
      async keys() {
        const messages = []
        for (let message; (message = await channel.get(queue));) messages.push(message)
        if (messages.length > 0) channel.nackAll(true)
        return messages.map(({ properties }) => String(properties.messageId))
      },
      close: () => channel.deleteQueue(queue),
      reopen: () => channel.assertQueue(queue, { durable: true }),
      async repeat(key) {
        channel.sendToQueue(queue, Buffer.from('{}'), { messageId: key })
        await channel.waitForConfirms()
      },
    }
  },
}

export const nats: Engine = {
  name: 'NATS JetStream',
  port: 4222,
  packages: ['@nats-io/jetstream', '@nats-io/transport-node'],
  program: 'relay-nats',
  dropsRepeats: true,
  jobs: async () => (await import('../../example/jobs/relay-nats.js')).VideoJobs,
  async open(t) {
    const { connect } = await import('@nats-io/transport-node')
    const { jetstream, jetstreamManager } = await import('@nats-io/jetstream')
    const connection = await connect({ servers: 'nats://127.0.0.1:4222' })
    const manager = await jetstreamManager(connection)
    const name = 'EXAMPLE'
    const add = () => manager.streams.add({ name, subjects: ['example.>'] })
    const remove = () => manager.streams.delete(name)
    await remove().catch(() => {})
    await add()
    t.after(async () => {
      await remove()
      await connection.close()
    })
    return {
      async keys() {
        const { state } = await manager.streams.info(name)
        const numbers = Array.from({ length: state.messages }, (_, index) => state.first_seq + index)
        const messages = await Promise.all(numbers.map((seq) => manager.streams.getMessage(name, { seq })))
        return messages.map((message) => String(message?.header.get('Nats-Msg-Id')))
      },
      close: remove,
      reopen: add,
      repeat: (key) => jetstream(connection).publish('example.transcode', '{}', { msgID: key }),
      async consumeAndForget() {
        await manager.streams.update(name, { duplicate_window: 200_000_000 }) // nanoseconds
        await wait(1_000)
        await manager.streams.purge(name)
      },
    }
  },
}

/** Why the tests of an engine are skipped, which is printed; false if its client is installed, and its server answers on its usual port of this host. */
export async function reasonToSkip({ name, packages, port }: Engine): Promise<string | false> {
  const reason = skipWithoutPackages(name, packages)
  if (reason || (await answers(port))) return reason
  return leaveOut(name, `nothing answers on 127.0.0.1:${port}`)
}

/** Why the tests of an engine are skipped, which is printed; false if its client is installed. */
export function skipWithoutPackages(name: string, packages: readonly string[]): string | false {
  const missing = packages.filter((each) => !isInstalled(each))
  return missing.length > 0 && leaveOut(name, `${missing.join(', ')} not installed`)
}

function leaveOut(name: string, reason: string): string {
  const text = `${name} is left out: ${reason}`
  console.log(text)
  return text
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1_000 })
    const end = (isOpen: boolean) => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}
