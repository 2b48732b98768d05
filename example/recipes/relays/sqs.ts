import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { forward } from 'sequitur/feeds'
import { HeroSaved } from './hero-saved.js'

const client = new SQSClient({})
const QueueUrl = process.env['SQS_URL'] ?? 'https://sqs.eu-central-1.amazonaws.com/123456789012/example-heroes.fifo'

export const toSqs = forward({ name: 'sqs', events: [HeroSaved] }, async (events, abortSignal) => {
  // One by one: of a batch, some messages may be refused while later ones are stored.
  for (const { id, topic, data } of events)
    await client.send(
      new SendMessageCommand({
        QueueUrl,
        MessageBody: JSON.stringify(data),
        MessageGroupId: topic.replaceAll(/[^\w-]/g, '-'), // what has one keeps its order
        MessageDeduplicationId: id, // dropped if it was stored in the last five minutes
      }),
      { abortSignal },
    )
})
