import { AsyncLocalStorage } from 'node:async_hooks'
import type { RequestRecord } from './request-record.js'

/**
 * The record of the request whose handler runs without a session, if a subscriber listens. Without a session only this tells which request a query
 * belongs to.
 */
export const requestWithoutSession = new AsyncLocalStorage<RequestRecord>()
