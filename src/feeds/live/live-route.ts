import type { Sequelize } from 'sequelize'
import { BootError } from '../../core/boot-error.js'
import { memo } from '../../core/memo.js'
import { followTables, type TableUse } from '../../db/events/table-use.js'
import { currentScopes } from '../../db/session/current-scope.js'
import { preferredMedia } from '../../http/output/accept.js'
import { events, EventStream } from '../../http/output/events.js'
import { discard, type OutgoingResponse } from '../../http/output/outgoing-response.js'
import type { Request } from '../../http/request.js'
import type { InterceptableRoute, Interceptor, InterceptorDocuments } from '../../http/routing/interceptor.js'
import { liveTablesOf } from './live-tables.js'
import { type ReadRows, StaleEvents } from './stale-events.js'

const EVENTS = 'text/event-stream'
const JSON_MEDIA = 'application/json'

/** The tables that the handlers of the requests have used so far, in the current attempt. */
const used = new WeakMap<Request, ReadonlyMap<Sequelize, TableUse>>()

const tellOfChanges = memo(() => followTables((sequelize, changed) => liveTablesOf(sequelize).committed(changed)))

/**
 * The interceptor of a route with `live: true`. For a request that prefers events, the handler runs as for any other: who may not read the list, or asks for it
 * wrongly, gets the same error. What it reads is not sent: the client is told when it changes.
 *
 * @throws BootError for a route that cannot be live.
 */
export function planLive(route: InterceptableRoute): Interceptor {
  refuseOthers(route)
  tellOfChanges()
  return {
    documents: DOCUMENTS,
    intercept(request) {
      if (prefersEvents(request)) used.set(request, noteReads())
      return { kind: 'handler' }
    },
    respond: (response, request) => {
      const tables = used.get(request)
      return tables && isSuccess(response) ? eventsOf(tables, request, response) : withVary(response)
    },
  }
}

const DOCUMENTS: InterceptorDocuments = {
  media: {
    [EVENTS]:
      'Server-sent events: `event: stale` says that the JSON of this response may have changed, and is to be fetched again. Their data are empty.',
  },
}

function refuseOthers({ name, method, status, sendsJson, transactions, hasDatabase }: InterceptableRoute): void {
  const where = `${name} has live: true`
  if (method !== 'GET')
    throw new BootError(`${where}, but handles ${method}. Remove it: clients are told of what a GET reads.`)
  if (!sendsJson || status !== 200)
    throw new BootError(
      `${where}, but its response is not JSON with the status 200, which a client could fetch again. Remove it.`,
    )
  if (!hasDatabase) throw new BootError(`${where}, but the app has no database whose tables could change. Remove it.`)
  if (transactions.length === 0)
    throw new BootError(
      `${where} and @Transactional(false), but the tables that it reads are those of its transaction. Remove one of them.`,
    )
}

function prefersEvents({ headers }: Request): boolean {
  return preferredMedia(headers.accept, [JSON_MEDIA, EVENTS]) === EVENTS
}

function noteReads(): ReadonlyMap<Sequelize, TableUse> {
  const uses = new Map<Sequelize, TableUse>()
  for (const { sequelize, transaction } of currentScopes()) {
    transaction.tables?.noteReads()
    if (transaction.tables) uses.set(sequelize, transaction.tables)
  }
  return uses
}

// What a client has kept is of the JSON.
function isSuccess({ status }: OutgoingResponse): boolean {
  return status < 300 || status === 304
}

function withVary(response: OutgoingResponse): OutgoingResponse {
  const { vary } = response.headers
  const both = vary === undefined ? 'Accept' : `${[vary].flat().join(', ')}, Accept`
  return { ...response, headers: { ...response.headers, vary: both } }
}

function eventsOf(
  uses: ReadonlyMap<Sequelize, TableUse>,
  { headers }: Request,
  { body }: OutgoingResponse,
): OutgoingResponse {
  discard(body)
  const read = [...uses].map(([sequelize, use]): ReadRows => ({ tables: liveTablesOf(sequelize), rows: use.read }))
  const lastId = headers['last-event-id']
  const sent = events(new StaleEvents(read, typeof lastId === 'string' ? lastId : undefined))
  if (sent.content instanceof EventStream) {
    sent.content.writeDataWith(() => '{}')
    return { status: 200, headers: { ...sent.headers, vary: 'Accept' }, body: sent.content }
  }
  throw new TypeError('events() has returned no stream.')
}
