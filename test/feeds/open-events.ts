import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { TestContext } from 'node:test'
import type { Database } from 'sequitur'
import { onNotices } from '../../src/db/own-tables/notices.js'
import { NoticeChannel } from '../../src/db/own-tables/notify.js'
import { until } from '../support/waiting.js'

/*
 * A client of server-sent events: an EventSource whose connection a test can cut.
 */

/** An event, as it was sent. */
export interface SentEvent {
  readonly event: string
  readonly id: string | undefined
  readonly data: string
  /** `performance.now()` of its arrival. */
  readonly at: number
}

export interface EventClient {
  readonly events: readonly SentEvent[]
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly isOpen: boolean
  /** The id of the last event. */
  readonly lastId: string | undefined
  /** Waits until there are as many events. */
  count(events: number): Promise<void>
  close(): void
}

/** Opens a stream of events, which is closed at the end of the test. */
export async function openEvents(
  t: Pick<TestContext, 'after'>,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventClient> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false }, resolve).once('error', reject)
  })
  const events: SentEvent[] = []
  let text = ''
  let isOpen = true
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    const blocks = (text + chunk).split('\n\n')
    text = blocks.pop() ?? ''
    events.push(...blocks.flatMap(eventOf))
  })
  response.on('error', () => {})
  response.on('close', () => (isOpen = false))
  const close = () => void response.destroy()
  t.after(close)
  return {
    events,
    status: response.statusCode ?? 0,
    headers: response.headers,
    get isOpen() {
      return isOpen
    },
    get lastId() {
      return events.findLast(({ id }) => id !== undefined)?.id ?? headers['last-event-id']
    },
    count: (expected) => until(`there are ${expected} events`, () => events.length >= expected),
    close,
  }
}

function eventOf(block: string): readonly SentEvent[] {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()]
    }),
  )
  const data = fields.get('data')
  return data === undefined
    ? []
    : [{ event: fields.get('event') ?? 'message', id: fields.get('id'), data, at: performance.now() }]
}

/**
 * Resolves when the app hears of what other processes commit, which is later than its first client on a busy PostgreSQL server: clients are told once more then,
 * as anything may have changed before.
 */
export async function heard(t: Pick<TestContext, 'after'>, { sequelize }: Pick<Database, 'sequelize'>): Promise<void> {
  if (sequelize.getDialect() !== 'postgres') return
  const notices = onNotices(sequelize, new NoticeChannel('sequitur_live'), { onNotice() {} })
  t.after(() => notices.close())
  await until('the app hears of notices', () => notices.isOpen())
}
