import type { IncomingMessage } from 'node:http'
import type { MeterProvider, TracerProvider } from '@opentelemetry/api'
import { BootError } from '../../core/boot-error.js'
import { callback, checkOptions, flag, type OptionCheck, type OptionChecks } from '../../core/option-checks.js'
import { shown } from '../../core/options.js'

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

const OPTIONS: OptionChecks<OpenTelemetryOptions> = {
  tracerProvider: providerWith('getTracer'),
  meterProvider: providerWith('getMeter'),
  ignore: callback(`(request) => request.url === '/livez'`),
  urlPath: flag,
  urlQuery: flag,
  queryText: flag,
  exceptions: flag,
}

/** @throws BootError for a wrong option. */
export function checkOpenTelemetryOptions(options: OpenTelemetryOptions): void {
  checkOptions('openTelemetry()', options, OPTIONS)
}

function providerWith(method: string): OptionCheck {
  return (provider, place) => {
    if (typeof provider === 'object' && provider !== null && typeof Reflect.get(provider, method) === 'function') return
    throw new BootError(
      `${place} is ${shown(provider)}, without ${method}(). Write a provider of an SDK of OpenTelemetry.`,
    )
  }
}
