import { connect, type ChannelModel, type ConfirmChannel } from 'amqplib'
import { forward } from 'sequitur/feeds'
import { HeroSaved } from './hero-saved.js'

let opened: Promise<ConfirmChannel> | undefined

async function open(): Promise<ConfirmChannel> {
  const forget = () => (opened = undefined) // for the next batch
  const connection: ChannelModel = await connect(process.env['AMQP_URL'] ?? 'amqp://127.0.0.1:5672')
  connection.on('error', () => {}).on('close', forget) // after an error, too
  const channel = await connection.createConfirmChannel()
  channel.on('error', () => {}).on('close', () => void connection.close().catch(forget))
  await channel.assertQueue('example.heroes', { durable: true })
  return channel
}

export const toRabbitMq = forward({ name: 'rabbitmq', events: [HeroSaved] }, async (events) => {
  const channel = await (opened ??= open().catch((error: unknown) => {
    opened = undefined
    throw error
  }))
  for (const { id, topic, position, data } of events) {
    const body = Buffer.from(JSON.stringify({ topic, position, data }))
    channel.sendToQueue('example.heroes', body, { persistent: true, messageId: id })
  }
  await channel.waitForConfirms() // in their order: one channel, one queue
})
