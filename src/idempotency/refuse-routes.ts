import { BootError } from '../core/boot-error.js'
import type { InterceptableRoute } from '../http/routing/interceptor.js'
import { sourceOfClients } from '../http/client-sources.js'

/** Whether requests with this method have another effect when they are repeated, and RFC 9110 does not say that they must not. */
export function isRepeatedByKey(method: string): boolean {
  return method === 'POST' || method === 'PATCH'
}

/** @throws BootError for a route whose requests cannot be repeated safely. */
export function refuseOtherRoutes(route: InterceptableRoute, namesClients: boolean): void {
  const { name, method, sendsEvents, plan } = route
  const where = `${name} has @Idempotent()`
  if (!isRepeatedByKey(method))
    throw new BootError(
      `${where}, but handles ${method}, whose requests may be repeated as they are. Remove the decorator, or put it on a POST or PATCH route.`,
    )
  refuseOtherTransactions(where, route)
  if (sendsEvents)
    throw new BootError(
      `${where}, but sends events, which cannot be stored for a client that asks again. Remove the decorator.`,
    )
  if (plan.inputs.some((input) => input.kind === 'body' && input.media))
    throw new BootError(
      `${where}, but takes a multipart form, which no client sends twice with the same bytes. Remove the decorator; or upload the files with a request of their own, and send their names as JSON.`,
    )
  if (!namesClients) refuseUnknownClients(where, route)
}

// An app without a database is refused with all decorators that need one.
function refuseOtherTransactions(where: string, { transactions, hasDatabase }: InterceptableRoute): void {
  if (hasDatabase && transactions.length === 0)
    throw new BootError(
      `${where} and @Transactional(false), but the key is kept in the transaction of the handler. Remove one of them.`,
    )
  if (transactions.some(({ readOnly }) => readOnly))
    throw new BootError(
      `${where} and @Transactional({ readOnly: true }), but the key is written in the transaction of the handler. Remove one of them.`,
    )
}

// With the header alone, all clients would be one: the key of one would give another its response.
function refuseUnknownClients(where: string, { plan }: InterceptableRoute): void {
  const source = sourceOfClients(plan)
  if (source === undefined) return
  throw new BootError(
    `${where}, and ${source}, but clients are told apart by the header Authorization. Write what names the client, so that the key of one is not that of another: @Idempotent({ of: (request) => request.cookies.get('session') ?? '' }).`,
  )
}
