import { jetstream } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { Injectable } from 'sequitur'
import { Attempt, Job } from 'sequitur/jobs'
import { Transcode } from './video.js'

@Injectable({ lifetime: 'application' })
export class VideoStream {
  #connection: Promise<NatsConnection> | undefined

  /** Resolves when the stream has stored the message, or has seen its id before. */
  async publish(key: string, data: Transcode) {
    const stream = jetstream(await this.#connected())
    await stream.publish('example.transcode', JSON.stringify(data), { msgID: key })
  }

  #connected() {
    const servers = process.env['NATS_URL'] ?? 'nats://127.0.0.1:4222'
    this.#connection ??= connect({ servers, maxReconnectAttempts: -1 }).catch((error: unknown) => {
      this.#connection = undefined // for the next attempt
      throw error
    })
    return this.#connection
  }

  async [Symbol.asyncDispose]() {
    await (await this.#connection)?.drain()
  }
}

export class VideoJobs {
  @Job({ name: 'video.relay', queue: 'relay', attempts: 20 })
  async relay(input: Transcode, stream: VideoStream, attempt: Attempt) {
    await stream.publish(attempt.key, { ...input })
  }
}
