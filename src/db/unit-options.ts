import type { ClientToken } from '../core/client-token.js'
import type { RequestRecord } from '../core/events/request-record.js'
import type { TransactionNeeds } from './dialect.js'
import { observeSession, type SessionObserver } from './events/session-observer.js'
import { currentScope } from './session/current-scope.js'
import type { SessionUnit, SessionUnitOptions } from './session/session-unit.js'
import type { Connection } from './startup/connect.js'

/** The needs that a route, or a job, has of its unit of work. */
export type UnitNeeds = TransactionNeeds & Pick<SessionUnitOptions, 'route' | 'safe'>

/** The options of one unit. A class for the reason that PooledConnection gives, in src/db/dialects/pooled-connection.ts. */
export class UnitOptions implements SessionUnitOptions {
  readonly isolation: string | undefined
  readonly readOnly: boolean | undefined
  readonly maxLag: number | undefined
  readonly onPrimary: boolean | undefined
  readonly safe: boolean | undefined
  readonly route: string | undefined
  readonly reader: boolean | undefined
  readonly retry: number
  readonly name: string
  readonly endTimeout: number | undefined
  readonly outer: SessionUnitOptions['outer']
  readonly running: Set<SessionUnit>
  readonly observer: SessionObserver | undefined
  readonly token: ClientToken | undefined
  readonly boundary: SessionUnitOptions['boundary']

  /** @param request undefined if no one listens, and outside of requests. */
  constructor(
    needs: UnitNeeds,
    retry: number,
    connection: Connection,
    running: Set<SessionUnit>,
    request: RequestRecord | undefined,
  ) {
    this.isolation = needs.isolation
    this.readOnly = needs.readOnly
    this.maxLag = needs.maxLag
    this.onPrimary = needs.onPrimary
    this.safe = needs.safe
    this.route = needs.route
    this.reader = needs.reader
    this.token = needs.token
    this.boundary = needs.boundary
    this.retry = retry
    this.name = connection.name
    this.endTimeout = connection.endTimeout
    this.outer = currentScope(connection.sequelize)?.transaction
    this.running = running
    this.observer = observeSession(connection.sequelize, connection.name, request)
  }
}
