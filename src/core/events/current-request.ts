import { AsyncLocalStorage } from 'node:async_hooks'
import type { RequestRecord } from './request-record.js'

/**
 * The record of the request whose handler runs without a session, if a subscriber listens: its queries belong to nothing else that knows the request. A
 * session knows its own.
 */
export const requestWithoutSession = new AsyncLocalStorage<RequestRecord>()
