import { type ChannelModel, connect } from 'amqplib'
import { Injectable } from 'sequitur'
import { Attempt, Job } from 'sequitur/jobs'
import { Transcode } from './video.js'

@Injectable({ lifetime: 'application' })
export class VideoExchange {
  #connection: Promise<ChannelModel> | undefined

  /** Resolves when RabbitMQ has confirmed the message; rejects if it has no queue for it. */
  async publish(key: string, data: Transcode) {
    const channel = await (await this.#connected()).createConfirmChannel()
    try {
      let isReturned = false
      channel.once('return', () => (isReturned = true)) // before the confirm
      channel.on('error', () => {}) // waitForConfirms() rejects
      const body = Buffer.from(JSON.stringify(data))
      channel.publish('', 'example.transcode', body, { persistent: true, mandatory: true, messageId: key })
      await channel.waitForConfirms()
      if (isReturned) throw new Error('RabbitMQ has no queue example.transcode')
    } finally {
      await channel.close().catch(() => {}) // it is closed after an error
    }
  }

  #connected() {
    const forget = () => (this.#connection = undefined) // for the next attempt
    this.#connection ??= connect(process.env['AMQP_URL'] ?? 'amqp://127.0.0.1:5672').then(
      (connection) => connection.on('error', () => {}).on('close', forget), // after an error, too
      (error: unknown) => {
        forget()
        throw error
      },
    )
    return this.#connection
  }

  async [Symbol.asyncDispose]() {
    await (await this.#connection)?.close()
  }
}

export class VideoJobs {
  @Job({ name: 'video.relay', queue: 'relay', attempts: 20 })
  async relay(input: Transcode, exchange: VideoExchange, attempt: Attempt) {
    await exchange.publish(attempt.key, { ...input })
  }
}
