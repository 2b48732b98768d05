import type { IncomingMessage } from 'node:http'
import type { MeterProvider, TracerProvider } from '@opentelemetry/api'
import { BootError } from '../../core/boot-error.js'
import { type OptionNames, refuseOtherType, refuseUnknownOptions, shown } from '../../core/options.js'

/** The options of `openTelemetry()`. */
export interface OpenTelemetryOptions {
  /** Makes the spans. Default: the global one, which the SDK registers. */
  readonly tracerProvider?: TracerProvider
  /** Makes the metrics. Default: the global one, which the SDK registers before `openTelemetry()` is called. */
  readonly meterProvider?: MeterProvider
  /** Requests that get neither spans nor metrics, such as those of health checks. `request` is Node's. */
  readonly ignore?: (request: IncomingMessage) => boolean
  /**
   * Whether spans have the path of the URL as it was sent, as `url.path`, from their start on: it may contain secrets, such as a token of a link. Default
   * false: `url.path` is the route, `/heros/:hero_id`, set at the end; the path of a request without a route.
   */
  readonly urlPath?: boolean
  /** Whether spans have the query string of the URL, as `url.query`. Default false: it may contain secrets. */
  readonly urlQuery?: boolean
  /** Whether spans of statements have their text, as `db.query.text`, with `?` for every literal. Default true. */
  readonly queryText?: boolean
  /** Whether spans have the messages and stacks of errors of the server. Default false: messages of databases may contain values. */
  readonly exceptions?: boolean
}

const OPTIONS: OptionNames<OpenTelemetryOptions> = {
  tracerProvider: true,
  meterProvider: true,
  ignore: true,
  urlPath: true,
  urlQuery: true,
  queryText: true,
  exceptions: true,
}

/** @throws BootError for a wrong option. */
export function checkOpenTelemetryOptions(options: OpenTelemetryOptions): void {
  refuseUnknownOptions('openTelemetry()', options, OPTIONS)
  refuseOtherThanProvider('tracerProvider', options.tracerProvider, 'getTracer')
  refuseOtherThanProvider('meterProvider', options.meterProvider, 'getMeter')
  if (options.ignore !== undefined && typeof options.ignore !== 'function')
    throw new BootError(
      `openTelemetry(): ignore is ${shown(options.ignore)}. Write a function: (request) => request.url === '/livez'.`,
    )
  for (const name of ['urlPath', 'urlQuery', 'queryText', 'exceptions'] as const)
    refuseOtherType(`openTelemetry(): ${name}`, options[name], 'boolean', 'true or false')
}

function refuseOtherThanProvider(name: string, provider: unknown, method: string): void {
  if (provider === undefined) return
  const isObject = typeof provider === 'object' && provider !== null
  if (!isObject || typeof Reflect.get(provider, method) !== 'function')
    throw new BootError(
      `openTelemetry(): ${name} is ${shown(provider)}, without ${method}(). Write a provider of an SDK of OpenTelemetry.`,
    )
}
