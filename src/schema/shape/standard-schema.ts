import { escapePointer, type Issue } from './issue.js'

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

type ToJson = (options: { target: string; libraryOptions?: Readonly<Record<string, unknown>> }) => Json

type Json = Readonly<Record<string, unknown>>

/** What many libraries have beyond the specification: a way to write a schema as JSON Schema. */
interface Convertible {
  readonly '~standard': { readonly jsonSchema?: Readonly<Record<'input' | 'output', ToJson>> }
  readonly toJSONSchema?: (options: { io: 'input' | 'output' }) => Json
}

/** Options with which a library writes `{}` for a type that JSON Schema does not have, such as Date, instead of throwing. */
const LENIENT: Readonly<Record<string, Json>> = { zod: { unrepresentable: 'any' } }

/** The JSON Schema that the library writes for its input or its output; `{}` (any value) if it cannot write one. */
export function jsonSchemaOf(schema: StandardSchema, direction: 'input' | 'output'): Json {
  const { $schema: _, ...json } = convert(schema, direction) ?? {}
  return json
}

function convert(schema: StandardSchema, direction: 'input' | 'output'): Json | undefined {
  const { '~standard': standard, toJSONSchema } = schema as StandardSchema & Convertible // all of its members are optional
  const toJson = standard.jsonSchema?.[direction]
  const target = 'draft-2020-12'
  if (!toJson) return attempt(() => toJSONSchema?.call(schema, { io: direction }))
  const libraryOptions = LENIENT[standard.vendor]
  return attempt(() => toJson({ target })) ?? (libraryOptions && attempt(() => toJson({ target, libraryOptions })))
}

/** A JSON Schema that a library wrote, as an object: JSON Schema also allows `true` for any value and `false` for none. */
export function toJsonSchema(json: unknown): Json {
  if (isJsonObject(json)) return json
  return json === false ? { not: {} } : {}
}

export function isJsonObject(json: unknown): json is Json {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

// Libraries throw for types that JSON Schema does not have.
function attempt(make: () => Json | undefined): Json | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

/** Whether a value may be omitted: the schema accepts undefined and keeps it, or replaces it with a default that its JSON Schema states. */
export function acceptsOmission(schema: StandardSchema): boolean {
  try {
    const result = schema['~standard'].validate(undefined)
    if (result instanceof Promise) return (result.catch(() => {}), false)
    return !result.issues && (result.value === undefined || 'default' in jsonSchemaOf(schema, 'input'))
  } catch {
    return false // thrown by a function of the program in the schema, which expected a value
  }
}
