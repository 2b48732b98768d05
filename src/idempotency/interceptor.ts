import type { ModelStatic } from 'sequelize'
import type { Constructor } from '../di/token.js'
import { BadRequest } from '../http/errors.js'
import type { Request } from '../http/request.js'
import type { Interceptor, InterceptorDocuments } from '../http/routing/interceptor.js'
import { claim, ownerOf } from './claim.js'
import { cleaningOf } from './cleaning.js'
import { type ComparedInputs, digestOf } from './compared-inputs.js'
import { idOf, MAX_KEY, parseKey } from './key.js'
import type { IdempotencyRecord } from './record.js'
import { fromStored, REPLAYED, toStored } from './stored-response.js'

/** A route with `@Idempotent()`, and its options. */
export interface IdempotentRoute {
  /** `PaymentController.pay` */
  readonly name: string
  /** `POST /payments` */
  readonly route: string
  readonly model: ModelStatic<IdempotencyRecord> & Constructor
  readonly required: boolean
  /** Milliseconds. */
  readonly expiresAfter: number
  /** Bytes. */
  readonly responseLimit: number
  readonly of: (request: Request) => string | Promise<string>
  readonly compared: ComparedInputs
}

export function newInterceptor(served: IdempotentRoute): Interceptor {
  const { name, route, model, required, expiresAfter, responseLimit, compared } = served
  return {
    readsBody: true,
    models: [model],
    documents: documentsOf(required),
    async intercept(request, reportLate) {
      const key = keyOf(request, required)
      if (key === undefined) return { kind: 'handler' }
      const client = await clientOf(served, request)
      const owner = ownerOf(model)
      const id = idOf(key, route, client, owner)
      const digest = digestOf(request, compared)
      const claimed = await claim(model, { id, route, request: digest, lifetime: expiresAfter })
      cleaningOf(model).begin(reportLate)
      if (claimed.kind === 'stored') return { kind: 'response', response: fromStored(claimed.response) }
      return {
        kind: 'handler',
        beforeCommit: (response) => {
          if (ownerOf(model) !== owner) throw lateOwner(name)
          return claimed.keep(toStored(response, name, responseLimit))
        },
      }
    },
  }
}

function keyOf({ headers }: Request, required: boolean): string | undefined {
  const key = parseKey(headers['idempotency-key'])
  if (key === undefined && required)
    throw new BadRequest('Send the header Idempotency-Key: a new key, such as a UUID, for each new request.')
  return key
}

async function clientOf({ name, of }: IdempotentRoute, request: Request): Promise<string> {
  const client: unknown = await of(request)
  if (typeof client === 'string') return client
  throw new TypeError(`${name}: the function \`of\` of @Idempotent() returned ${typeof client}. Return a string.`)
}

// The key of one tenant would be that of all: it was claimed without the tenant.
function lateOwner(name: string): Error {
  return new Error(
    `${name} has @Idempotent(), and its tenant became known after its key was claimed. Find the tenant out in a class of \`requires\`, or in one with @Security().`,
  )
}

function documentsOf(required: boolean): InterceptorDocuments {
  return {
    headers: [
      {
        name: 'idempotency-key',
        description:
          'A new key, such as a UUID, for each new request. Requests with the same key have one effect, and the same response.',
        required,
        maxLength: MAX_KEY,
        generated: true,
      },
    ],
    refusals: {
      400: `The header Idempotency-Key is ${required ? 'missing, or is ' : ''}not a key`,
      409: {
        description: 'A request with this Idempotency-Key is still running',
        headers: {
          'Retry-After': 'Seconds after which the request may be sent again; missing if it would fail again.',
        },
      },
      422: 'The Idempotency-Key was sent before with another request',
    },
    responseHeaders: { [REPLAYED]: '`true` if this is the stored response of an earlier request with the same key' },
  }
}
