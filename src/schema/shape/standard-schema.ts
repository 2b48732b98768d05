import { BootError } from '../../core/boot-error.js'
import { ignoreRejections, isThenable } from '../../core/promises.js'
import { closeObjects } from './close-objects.js'
import type { Issue } from './issue.js'
import { escapePointer } from '../../core/json-pointer.js'
import type { Direction, JsonSchema } from './subschemas.js'
import { BY_HAND, cureOf, LIBRARY_OPTIONS, type Unrepresentable, withoutMarks } from './unrepresentable.js'

/** A schema of zod, valibot, arktype or another library of the Standard Schema specification (standardschema.dev). */
export interface StandardSchema<In = unknown, Out = In> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Out> | Promise<StandardResult<Out>>
    readonly types?: { readonly input: In; readonly output: Out } | undefined
  }
}

export type StandardResult<T = unknown> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Whether a declaration is a Standard Schema. Those of some libraries are functions. */
export function isStandardSchema(declaration: unknown): declaration is StandardSchema {
  return (
    ((typeof declaration === 'object' && declaration !== null) || typeof declaration === 'function') &&
    '~standard' in declaration
  )
}

/** Converts a library's issues: a path of keys becomes a JSON Pointer. */
export function toIssues(issues: readonly StandardIssue[]): Issue[] {
  return issues.map(({ message, path = [] }) => ({ path: path.map(toPointer).join(''), message }))
}

function toPointer(part: PropertyKey | { readonly key: PropertyKey }): string {
  return `/${escapePointer(String(typeof part === 'object' ? part.key : part))}`
}

type ToJson = (options: { target: string; libraryOptions?: Readonly<Record<string, unknown>> }) => JsonSchema

/** An extension of the specification that many libraries have: a way to write a schema as JSON Schema. */
interface Convertible {
  readonly '~standard': { readonly jsonSchema?: Readonly<Record<Direction, ToJson>> }
  readonly toJSONSchema?: (options: JsonSchema) => JsonSchema
}

/**
 * The JSON Schema that the library writes for its input or its output. The objects of an output are closed: only what they list is sent.
 *
 * @throws BootError when the library writes none, or not for all parts: unlisted properties of a value could not be recognized.
 */
export function jsonSchemaOf(schema: StandardSchema, direction: Direction): JsonSchema {
  const { $schema: _, ...written } = convert(schema, direction)
  const { json, first } = withoutMarks(written)
  if (first) throw unrepresentable(schema['~standard'].vendor, direction, first)
  return direction === 'output' ? closeObjects(json) : json
}

/** As {@link jsonSchemaOf}; undefined when the library writes none. */
export function writtenJsonSchema(schema: StandardSchema, direction: Direction): JsonSchema | undefined {
  try {
    return jsonSchemaOf(schema, direction)
  } catch {
    return undefined
  }
}

function convert(schema: StandardSchema, direction: Direction): JsonSchema {
  const { '~standard': standard, toJSONSchema } = schema as StandardSchema & Convertible // all of its members are optional
  const target = 'draft-2020-12'
  const toJson = standard.jsonSchema?.[direction]
  const libraryOptions = LIBRARY_OPTIONS[standard.vendor]?.(direction)
  try {
    if (toJson) return toJson(libraryOptions ? { target, libraryOptions } : { target })
    if (toJSONSchema) return toJSONSchema.call(schema, { io: direction, ...libraryOptions })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/\.?$/, '.') : String(cause)
    throw new BootError(
      `a schema of ${standard.vendor} has no JSON Schema for its ${direction}: ${reason} ${CURES[standard.vendor] ?? CURE}`,
      {
        cause,
      },
    )
  }
  throw new BootError(`a schema of ${standard.vendor} has no JSON Schema. ${CURES[standard.vendor] ?? CURE}`)
}

function unrepresentable(vendor: string, direction: Direction, part: Unrepresentable): BootError {
  const { type, path } = part
  return new BootError(
    `a schema of ${vendor} has no JSON Schema for its ${direction}: ${path === '' ? 'it' : path} is of the type ${type}, which JSON Schema does not have. ` +
      cureOf(vendor, part),
  )
}

const CURE = `It says which properties are sent, and what OpenAPI documents. Use a version of the library that writes one, or add it: ${BY_HAND}.`

const CURES: Readonly<Record<string, string>> = {
  valibot:
    `It says which properties are sent, and what OpenAPI documents. Add it: toStandardJsonSchema(schema) of @valibot/to-json-schema, ` +
    `with { overrideSchema } for types that JSON Schema does not have.`,
}

/** Whether a value may be omitted: the schema accepts undefined and keeps it, or replaces it with a default that its JSON Schema states. */
export function acceptsOmission(schema: StandardSchema): boolean {
  try {
    const result = schema['~standard'].validate(undefined)
    if (isThenable(result)) return (ignoreRejections(result), false)
    return !result.issues && (result.value === undefined || 'default' in (writtenJsonSchema(schema, 'input') ?? {}))
  } catch {
    return false // thrown by a function of the program in the schema, which expected a value
  }
}
