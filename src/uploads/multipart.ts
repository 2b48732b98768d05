import { checkOptions, integer, type OptionChecks } from '../core/option-checks.js'
import { refuseMissingCall } from '../core/options.js'
import { declareParameter } from '../di/parameter.js'
import type { BodyMedia } from '../http/input/body-media.js'
import type { InputDeclaration } from '../http/input/parameters.js'
import { refuseComplexParameters } from '../schema/declare/refuse-complex-parameters.js'
import { FormReader, MULTIPART } from './form-reader.js'
import { requireParser } from './parser.js'

/** The options of `@Multipart(options)`. */
export interface MultipartOptions {
  /**
   * The largest body in bytes. Default: the `bodyLimit` of the app for the text fields and the headers of the parts, and for each file its
   * `maxSize`.
   */
  readonly bodyLimit?: number
}

const OPTIONS: OptionChecks<MultipartOptions> = {
  bodyLimit: integer('bytes, as in 10_000_000', 1, Number.MAX_SAFE_INTEGER),
}

/**
 * The body as `multipart/form-data`: a class whose properties are text fields, `@Field()`, and files, `@File()`. It is complete before the
 * handler is called and its transaction begins. Needs the package `@fastify/busboy`.
 *
 * @throws BootError for an unknown option.
 * @example
 * @Post('/photos', { status: 204 })
 * async create(@Multipart() form: NewPhoto) { await form.photo.saveTo(join(folder, randomUUID())) }
 */
export function Multipart(options: MultipartOptions = {}): ParameterDecorator {
  refuseMissingCall('@Multipart()', arguments)
  return (target, member, index) => {
    checkOptions(`@Multipart() of ${target.constructor.name}.${String(member)}`, options, OPTIONS)
    const input: InputDeclaration = { in: 'body', options: {}, media: mediaOf(options) }
    declareParameter(target, member, index, { kind: 'input', input })
  }
}

function mediaOf({ bodyLimit }: MultipartOptions): BodyMedia {
  return {
    decorator: '@Multipart()',
    prepare: (shape, where) => {
      refuseComplexParameters(shape, 'multipart', where)
      requireParser(where)
      const reader = new FormReader(shape, bodyLimit)
      return {
        mediaType: MULTIPART,
        encoding: reader.encoding,
        read: (request, appLimit, stop) => reader.read(request, appLimit, stop),
      }
    },
  }
}
