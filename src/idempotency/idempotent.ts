import type { ModelStatic } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { callback, checkOptions, fitting, flag, integer, type OptionChecks } from '../core/option-checks.js'
import { refuseMissingCall } from '../core/options.js'
import { MetadataKey } from '../di/metadata.js'
import { addHandlerDecorator } from '../di/route-facts.js'
import { type Constructor, isConstructor } from '../di/token.js'
import { sourceOfClients } from '../http/client-sources.js'
import type { Request } from '../http/request.js'
import { routesOf } from '../http/routing/methods.js'
import { addInterceptor, type InterceptableRoute, type Interceptor } from '../http/routing/interceptor.js'
import { comparedInputs } from './compared-inputs.js'
import { newInterceptor } from './interceptor.js'
import { IdempotencyRecord } from './record.js'

/** The options of `@Idempotent(options)`. */
export interface IdempotentOptions {
  /** Whether a request without `Idempotency-Key` is a 400. Default: true. Otherwise it runs as if the route had no decorator. */
  readonly required?: boolean
  /** Milliseconds for which a response is kept. Afterwards the key is as if it had never been sent. Default: a day. */
  readonly expiresAfter?: number
  /**
   * Who sends a request: the key of one client is not that of another. Default: what is in the header `Authorization`. Write it for clients that
   * authenticate by something else, such as a cookie, or whose tokens change.
   */
  readonly of?: (request: Request) => string | Promise<string>
  /** The longest body of a response that is stored, in bytes. A longer one is an error, and rolled back. Default: 1 MiB. */
  readonly responseLimit?: number
  /** The table, for apps in which several databases have one: a class that extends IdempotencyRecord. */
  readonly model?: typeof IdempotencyRecord
}

const DAY = 24 * 60 * 60 * 1000
const DEFAULT_RESPONSE_LIMIT = 1024 * 1024

const OPTIONS: OptionChecks<IdempotentOptions> = {
  required: flag,
  expiresAfter: integer('milliseconds', 1, 366 * DAY),
  of: callback(`(request) => request.headers['x-client']`),
  responseLimit: integer('bytes', 1, 2 ** 30),
  model: fitting(isRecordModel, 'a class of your own: class OtherRecord extends IdempotencyRecord {}'),
}

const optionsKey = new MetadataKey<IdempotentOptions | false>()

/**
 * Requests of a POST or PATCH route that have the same `Idempotency-Key` have one effect: the first runs, and all others get its response. The key and
 * the response are written in the transaction of the handler, so that they are kept, or lost, together with what it has written.
 * On a controller, for all of its POST and PATCH routes; `false` for none.
 *
 * @throws BootError for a wrong option. On another route, or without a transaction, the app does not start.
 * @example
 * @Idempotent()
 * @Post('/', Item.of(Payment))
 * async pay(input: NewPayment) { return { data: await Payment.create({ ...input }) } }
 */
export function Idempotent(options: IdempotentOptions | false = {}): MethodDecorator & ClassDecorator {
  refuseMissingCall('@Idempotent()', arguments)
  if (options !== false) checkOptions('@Idempotent()', options, OPTIONS)
  return (target: object, member?: string | symbol) => {
    optionsKey.write(target, options, member)
    addInterceptor(target, planIdempotent, member)
    addHandlerDecorator(target, {
      name: options === false ? '@Idempotent(false)' : '@Idempotent()',
      member: member === undefined ? undefined : String(member),
      needsDatabase: options !== false,
    })
  }
}

function isRecordModel(model: unknown): boolean {
  return model === IdempotencyRecord || (isConstructor(model) && model.prototype instanceof IdempotencyRecord)
}

function planIdempotent(route: InterceptableRoute): Interceptor | undefined {
  const { controller, member, method } = route
  const ofMember = optionsKey.inherited(controller.prototype as object, member)
  const options = ofMember ?? optionsKey.inherited(controller)
  const isChosen = ofMember !== undefined || isRepeatedByKey(method)
  if (options === undefined || options === false) return undefined
  if (!isChosen) return refuseUseless(controller)
  refuseOtherRoutes(route, options.of !== undefined)
  const compared = comparedInputs(route.plan, options.of !== undefined)
  const {
    required = true,
    expiresAfter = DAY,
    responseLimit = DEFAULT_RESPONSE_LIMIT,
    of = authorizationOf,
    model = IdempotencyRecord,
  } = options
  return newInterceptor({
    required,
    expiresAfter,
    responseLimit,
    of,
    compared,
    name: route.name,
    route: `${method} ${route.pattern}`,
    // The class is a model once the database is started.
    model: model as unknown as ModelStatic<IdempotencyRecord> & Constructor,
  })
}

// On a controller, the decorator is for some of its routes.
function refuseUseless(controller: Constructor): undefined {
  if (routesOf(controller).some(({ method }) => isRepeatedByKey(method))) return
  throw new BootError(
    `${controller.name} has @Idempotent(), but no POST or PATCH route, so that it would be ignored. Remove the decorator.`,
  )
}

// The case of a scheme has no meaning (RFC 9110, 11.1): `bearer x` is the client of `Bearer x`.
function authorizationOf({ headers }: Request): string {
  return (headers.authorization ?? '').replace(/^bearer /i, 'Bearer ').replace(/^basic /i, 'Basic ')
}

/** Whether requests with this method have another effect when they are repeated, and RFC 9110 does not say that they must not. */
function isRepeatedByKey(method: string): boolean {
  return method === 'POST' || method === 'PATCH'
}

/** @throws BootError for a route whose requests cannot be repeated safely. */
function refuseOtherRoutes(route: InterceptableRoute, namesClients: boolean): void {
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
    `${where}, and ${source}, but clients are distinguished by the header Authorization. Write what identifies the client, so that the key of one is not that of another: @Idempotent({ of: (request) => request.cookies.get('session') ?? '' }).`,
  )
}
