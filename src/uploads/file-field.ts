import { BootError } from '../core/boot-error.js'
import { checkOptions, integer, type OptionChecks, requireArray, unchecked } from '../core/option-checks.js'
import { refuseMissingCall, shown } from '../core/options.js'
import { emittedPropertyType } from '../di/metadata.js'
import type { Constructor } from '../di/token.js'
import { Field } from '../schema/declare/field.js'
import type { Check } from '../schema/shape/check.js'
import { describedBy, type FileShape } from '../schema/shape/shape.js'
import { UploadedFile } from './uploaded-file.js'

/** The options of `@File(options)`. */
export interface FileFieldOptions {
  /** The most bytes of each file. Default 1 MiB. */
  readonly maxSize?: number
  /** The media types that a client may state: `['image/png', 'image/*']`. Default: any. They are not verified against the content. */
  readonly mediaTypes?: readonly string[]
  /** Whether the form may have no such file. Default false. */
  readonly optional?: boolean
  /** The least number of files of a list. */
  readonly minItems?: number
  /** The greatest number of files of a list. Default 10. */
  readonly maxItems?: number
  readonly title?: string
  readonly description?: string
  readonly deprecated?: boolean
  /** The message of a 422, instead of those that name the rule. */
  readonly message?: string
}

const OPTIONS: OptionChecks<FileFieldOptions> = {
  maxSize: integer('bytes, as in 5_000_000', 1, Number.MAX_SAFE_INTEGER),
  mediaTypes: requireMediaTypes,
  optional: unchecked, // these by @Field()
  minItems: unchecked,
  maxItems: unchecked,
  title: unchecked,
  description: unchecked,
  deprecated: unchecked,
  message: unchecked,
}

const DEFAULT_MAX_SIZE = 1024 * 1024

/** The files of a list without `maxItems`. */
export const DEFAULT_MAX_ITEMS = 10

type FitsFile<P, O> = unknown extends P
  ? unknown
  : [NonNullable<P>] extends [UploadedFile | readonly UploadedFile[]]
    ? undefined extends P
      ? IfOptional<
          O,
          unknown,
          { readonly error: "the '?' does not exist at run time: write @File({ optional: true })" }
        >
      : IfOptional<O, { readonly error: 'the file may be missing: write a ? after the name' }, unknown>
    : { readonly error: '@File() declares an UploadedFile, or a list: UploadedFile[]' }

type IfOptional<O, Yes, No> = O extends { readonly optional: true } ? Yes : No

/** A property decorator that the compiler checks against the property's type. */
type FileDecorator<O> = <T extends object, K extends string | symbol>(
  prototype: T,
  property: K & (K extends keyof T ? FitsFile<T[K], O> : unknown),
) => void

/**
 * Declares a file of a multipart form, or a list of files, which a handler receives by {@link Multipart}.
 *
 * @throws BootError for a wrong option.
 * @example
 * class NewPhoto {
 *   @Field({ minLength: 1 }) title!: string
 *   @File({ maxSize: 5_000_000, mediaTypes: ['image/png', 'image/jpeg'] }) photo!: UploadedFile
 *   @File({ optional: true, maxItems: 3 }) details?: UploadedFile[]
 * }
 */
export function File<const O extends FileFieldOptions = {}>(options: O & FileFieldOptions = {} as O): FileDecorator<O> {
  refuseMissingCall('@File()', arguments)
  return (prototype: object, property: string | symbol) => {
    const where = `@File() on ${prototype.constructor.name}.${String(property)}`
    checkOptions(where, options, OPTIONS)
    const { maxSize, mediaTypes, ...others }: FileFieldOptions = options
    const type = { shape: fileShape(maxSize, mediaTypes) }
    const emitted = emittedPropertyType(prototype, String(property))
    const isList = emitted === Array || (emitted === undefined && (options.minItems ?? options.maxItems) !== undefined)
    const declare = isList
      ? Field({ maxItems: DEFAULT_MAX_ITEMS, ...others, type: [type] })
      : Field({ ...others, type })
    declare(prototype, property as never) // the type of this decorator has checked it
  }
}

function requireMediaTypes(mediaTypes: unknown, place: string): void {
  requireArray(mediaTypes, place, `'image/png'`)
  const other = mediaTypes?.find((type) => !/^[\w.+-]+\/(?:[\w.+-]+|\*)$/.test(String(type)))
  if (other !== undefined)
    throw new BootError(`${place} has ${shown(other)}. Write a media type such as 'image/png', or 'image/*'.`)
  if (mediaTypes?.length === 0)
    throw new BootError(`${place} is empty, so that no file would be accepted. Remove it for any.`)
}

function fileShape(maxSize = DEFAULT_MAX_SIZE, mediaTypes?: readonly string[]): FileShape {
  const isFile: Check = { accepts: (value) => value instanceof UploadedFile, message: 'must be a file' }
  const checks = mediaTypes ? [isFile, typeCheck(mediaTypes)] : [isFile]
  const type: Constructor = UploadedFile
  return { kind: 'file', type, maxSize, checks, ...(mediaTypes ? { mediaTypes } : {}) }
}

function typeCheck(mediaTypes: readonly string[]): Check {
  return {
    accepts: (value) => !(value instanceof UploadedFile) || fitsMediaTypes(value.type, mediaTypes),
    message: `must be of type ${mediaTypes.join(' or ')}`,
  }
}

/** Whether a media type is one of these, or in one of these ranges: `image/*`. */
export function fitsMediaTypes(type: string, mediaTypes: readonly string[]): boolean {
  return mediaTypes.some((one) =>
    one.endsWith('/*') ? type.startsWith(one.slice(0, -1).toLowerCase()) : type === one.toLowerCase(),
  )
}

// `@Field() photo!: UploadedFile` declares a file with the defaults of @File().
describedBy.write(UploadedFile, () => fileShape())
