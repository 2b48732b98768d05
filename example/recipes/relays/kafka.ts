import { Producer, ProduceAcks, stringSerializers } from '@platformatic/kafka'
import { forward } from 'sequitur/feeds'
import { HeroSaved } from './hero-saved.js'

const producer = new Producer({
  clientId: 'example',
  bootstrapBrokers: [process.env['KAFKA_BROKER'] ?? '127.0.0.1:9092'],
  serializers: stringSerializers,
  idempotent: true, // its own retries repeat nothing
  acks: ProduceAcks.ALL,
})

export const toKafka = forward({ name: 'kafka', events: [HeroSaved] }, async (events) => {
  await producer.send({
    messages: events.map(({ id, topic, data }) => ({
      topic: 'example.heroes',
      key: topic, // one partition for each topic: that keeps its order
      value: JSON.stringify(data),
      headers: { id }, // for consumers, which drop what they have seen
    })),
  })
})
